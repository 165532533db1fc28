//! What the analysis process gives up before it opens an archive: memory and time without end, connections, programs,
//! files to write. Linux only; elsewhere it says so.

#[cfg(target_os = "linux")]
pub(super) use linux::{bounds, isolate};

#[cfg(not(target_os = "linux"))]
pub(super) fn bounds(_: u64, _: u64) -> Result<(), String> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn isolate() -> Result<(), String> {
    Err("this system offers no isolation of the analysis".to_owned())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::env::consts::ARCH;

    use rustix::process::{Resource, Rlimit, setrlimit};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    };

    /// Open files at the same time.
    const FILES: u64 = 64;
    /// Processor seconds beside those of the archive's own limit: to start and to write the answer.
    const SECONDS_MORE: u64 = 30;

    /// Connections, programs, processes, other processes' memory, mounts, and the ways round a filter.
    const REFUSED: &[i64] = &[
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_sendto,
        libc::SYS_sendmsg,
        libc::SYS_sendmmsg,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_clone,
        libc::SYS_clone3,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_io_uring_setup,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_bpf,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_unlinkat,
        libc::SYS_renameat2,
        libc::SYS_mkdirat,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_fchmodat,
        libc::SYS_fchownat,
        libc::SYS_truncate,
        libc::SYS_ftruncate,
    ];

    /// What only this architecture has.
    #[cfg(target_arch = "x86_64")]
    const REFUSED_TOO: &[i64] = &[
        libc::SYS_fork,
        libc::SYS_vfork,
        libc::SYS_creat,
        libc::SYS_unlink,
        libc::SYS_rename,
        libc::SYS_mkdir,
        libc::SYS_rmdir,
        libc::SYS_link,
        libc::SYS_symlink,
        libc::SYS_chmod,
        libc::SYS_chown,
    ];
    #[cfg(not(target_arch = "x86_64"))]
    const REFUSED_TOO: &[i64] = &[];

    /// Bounds on memory, processor time, open files; no file may grow, no core is dumped.
    pub(in super::super) fn bounds(memory: u64, seconds: u64) -> Result<(), String> {
        let limits = [
            (Resource::Data, memory),
            (Resource::Cpu, seconds.saturating_add(SECONDS_MORE)),
            (Resource::Fsize, 0),
            (Resource::Nofile, FILES),
            (Resource::Core, 0),
        ];
        for (resource, most) in limits {
            let limit = Rlimit { current: Some(most), maximum: Some(most) };
            setrlimit(resource, limit).map_err(|error| format!("a limit could not be set: {error}"))?;
        }
        Ok(())
    }

    /// Refuses system calls for the rest of the process's life, on all its threads.
    pub(in super::super) fn isolate() -> Result<(), String> {
        let program = filter().map_err(|error| format!("the filter of system calls could not be made: {error}"))?;
        seccompiler::apply_filter_all_threads(&program)
            .map_err(|error| format!("the filter of system calls could not be set: {error}"))
    }

    fn filter() -> Result<BpfProgram, seccompiler::Error> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            REFUSED.iter().chain(REFUSED_TOO).map(|number| (*number, Vec::new())).collect();
        // Files are opened for reading only.
        rules.insert(libc::SYS_openat, writing(2)?);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, writing(1)?);
        let refuse = SeccompAction::Errno(u32::try_from(libc::EPERM).unwrap_or(1));
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, TargetArch::try_from(ARCH)?)?;
        Ok(filter.try_into()?)
    }

    /// Matches an open whose flags, the argument number `at`, write or make something.
    fn writing(at: u8) -> Result<Vec<SeccompRule>, seccompiler::Error> {
        let flag = |mask: i32, value: i32| {
            let (mask, value) = (u64::from(mask.unsigned_abs()), u64::from(value.unsigned_abs()));
            let condition = SeccompCondition::new(at, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)?;
            SeccompRule::new(vec![condition])
        };
        Ok(vec![
            flag(libc::O_ACCMODE, libc::O_WRONLY)?,
            flag(libc::O_ACCMODE, libc::O_RDWR)?,
            flag(libc::O_CREAT, libc::O_CREAT)?,
        ])
    }
}
