//! What holds for shares where a company says nothing else.

/// What holds for shares where a company sets no policy of its own.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    /// Shares may be made without a code.
    pub without_code: bool,
    /// A share ends this many days after today unless its maker says otherwise.
    pub usual_days: u32,
    /// And at most this many days after today.
    pub most_days: u32,
    /// A share opens at most this often; 0 leaves it to its maker.
    pub most_views: u32,
    /// Makers may let recipients see evidence and proof-of-concept text.
    pub evidence: bool,
    /// How long an opened share stays open for its recipient.
    pub grant_minutes: u32,
    /// Wrong extraction codes per share and network before that network has to wait.
    pub wrong_by_network: u32,
    /// How long those count, and it then waits.
    pub network_minutes: u32,
    /// Wrong extraction codes per share from all networks together before everybody waits.
    pub wrong_anywhere: u32,
    /// How long those count.
    pub anywhere_minutes: u32,
    /// How long everybody then waits.
    pub locked_minutes: u32,
    /// Wrong extraction codes in the life of a code after which it opens nothing any more.
    pub wrong_in_life: u32,
    /// The largest PDF report, in bytes, that gets the line which names its share.
    pub pdf_bytes: usize,
    /// How many are held and marked at once.
    pub pdfs_at_once: usize,
    /// How long, in seconds, one more waits for its turn.
    pub pdf_wait_seconds: u64,
    /// Wrong extraction codes per network at all shares of a company before that network has to wait.
    pub wrong_over_all: u32,
    /// How long those count, and it then waits.
    pub over_all_minutes: u32,
    /// How long a right code waits for its turn at the service.
    pub turn_ms: u64,
    /// Days a share that is over stays in its owner's list.
    pub kept_days: u32,
    /// How often shares are looked for that ended without anybody noticing, to drop what they showed.
    pub sweep_minutes: u64,
    /// Findings that can be chosen for one share.
    pub findings: usize,
    /// Views that can be given one share where no policy bounds them.
    pub views: u32,
    /// The longest note for recipients.
    pub note_characters: usize,
    /// Shares that their maker can end with one form.
    pub ended_at_once: usize,
}
