//! What the system says about this process, by the names that all programs use for it. On systems without `/proc` nothing.

use std::fs;

use metrics::gauge;

/// Measures memory and open files now.
pub(super) fn measure() {
    if let Some(kib) = fs::read_to_string("/proc/self/status").ok().as_deref().and_then(resident_kib) {
        gauge!("process_resident_memory_bytes").set(f64::from(kib) * 1024.0);
    }
    if let Ok(files) = fs::read_dir("/proc/self/fd") {
        // Reading the folder holds one open itself.
        let open = u32::try_from(files.count()).unwrap_or(u32::MAX).saturating_sub(1);
        gauge!("process_open_fds").set(f64::from(open));
    }
}

/// The resident memory in a `status` file of `/proc`.
fn resident_kib(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resident_memory_is_read_from_its_line() {
        assert_eq!(resident_kib("VmHWM:\t  9 kB\nVmRSS:\t  4312 kB\nThreads:\t3\n"), Some(4312));
        assert_eq!(resident_kib("Threads:\t3\n"), None);
    }
}
