//! Settings of kept answers: sizes and times, nothing of whom they are kept for.

/// How long answers of the service are kept.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Bytes of all answers in memory; 0 keeps none, and every request is asked for itself.
    pub memory_bytes: u64,
    /// The largest answer that is kept.
    pub answer_bytes: usize,
    /// Answers that are fresh for at least this long are put into the store too.
    pub store_from_ms: u64,
    /// The largest of those; 0 puts none there.
    pub store_answer_bytes: usize,
    /// The store is waited for this long, when an answer is looked for and when other replicas are told of a change.
    pub store_wait_ms: u64,
    /// While the service is in trouble, the same is asked again after this long.
    pub rest_ms: u64,
    /// A task that has not ended, and what it has found.
    pub task_running: CacheLife,
    /// A task that has ended, and what it has found.
    pub task_ended: CacheLife,
    pub list: CacheLife,
    /// The state of something that runs, other than tasks.
    pub poll: CacheLife,
    /// What is the same for everybody.
    pub constant: CacheLife,
}

/// The times of one kind of answer, each but the first counted from the end of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLife {
    /// Given out without asking.
    pub fresh_ms: u64,
    /// Given out stale while the service is asked behind it.
    pub meanwhile_ms: u64,
    /// Given out stale while the service is in trouble.
    pub in_trouble_ms: u64,
}
