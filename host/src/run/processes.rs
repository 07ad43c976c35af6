//! Processes that a trial has started: found wherever they went, and ended with it.

use std::process::Child;
use std::time::{Duration, Instant};

#[cfg(unix)]
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, getpid, kill_process, waitid};

/// Asks the system to give orphans among this process's descendants to it, so that none gets lost.
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(getpid())) {
        tracing::debug!("what a plugin sends its own ways cannot be ended: {error}");
    }
}

/// Asks the system to wake this process when its parent ends, where it was stopped: it sees its input end then.
pub(super) fn wake_without_parent() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_parent_process_death_signal(Some(Signal::CONT)) {
        tracing::debug!("this process may outlive its parent: {error}");
    }
}

/// Asks the system to end this process with its parent.
pub fn end_with_parent() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)) {
        tracing::debug!("this process may outlive its parent: {error}");
    }
}

/// Whether a process has ended; it keeps its number until it is waited for.
pub(super) fn has_ended(child: &mut Child) -> bool {
    #[cfg(unix)]
    {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(Pid::from_child(child)), options), Ok(None))
    }
    #[cfg(not(unix))]
    {
        !matches!(child.try_wait(), Ok(None))
    }
}

/// Waits for a process to end, for so long at most.
pub(super) fn wait_for(child: &mut Child, patience: Duration) {
    let begun = Instant::now();
    // Told by the system, where it can: a trial is shorter than what looking now and then would take.
    #[cfg(target_os = "linux")]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        use rustix::process::{PidfdFlags, pidfd_open};
        if let Ok(end) = pidfd_open(Pid::from_child(child), PidfdFlags::empty())
            && let Ok(patience) = Timespec::try_from(patience)
        {
            let _ = poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&patience));
        }
    }
    while !has_ended(child) && begun.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Ends a process and its group, which is its own.
pub(super) fn end_group(child: &mut Child) {
    #[cfg(unix)]
    let _ = rustix::process::kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.kill();
}

/// Ends every descendant of this process, and waits until there is none; but not for ever, because a process that waits
/// for a broken device cannot be ended. Children that `spare` names stay, with all that is theirs.
#[cfg(unix)]
pub(super) fn end_descendants(spare: &dyn Fn(u32) -> bool) {
    const PATIENCE: Duration = Duration::from_secs(5);
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE && has_children() {
        let doomed = descendants(spare);
        if doomed.is_empty() {
            return;
        }
        for process in doomed {
            let _ = kill_process(process, Signal::KILL);
            // Those that are not our children are not ours to wait for; they will be.
            let _ = waitid(WaitId::Pid(process), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether this process has any child. Without one it has no descendant either: orphans among them would be its children. To
/// ask costs nothing, to look through `/proc` takes milliseconds.
#[cfg(unix)]
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, options), Err(rustix::io::Errno::CHILD))
}

#[cfg(not(unix))]
pub(super) fn end_descendants(_spare: &dyn Fn(u32) -> bool) {}

/// Ends this process with all that it has started, without a word to anybody: a plugin may be in the middle of anything.
pub(super) fn end_all() -> ! {
    // With host and guard gone, what a dying descendant starts at the last moment would go to nobody.
    adopt_orphans();
    end_descendants(&|_| false);
    #[cfg(unix)]
    {
        // Started by hand, it may share its group with a shell.
        if getpgrp() == getpid() {
            let _ = rustix::process::kill_current_process_group(Signal::KILL);
        }
        let _ = kill_process(getpid(), Signal::KILL);
    }
    std::process::exit(1)
}

/// Every process below this one, as `/proc` has it.
#[cfg(unix)]
fn descendants(spare: &dyn Fn(u32) -> bool) -> Vec<Pid> {
    let numbers = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let pairs: Vec<(i32, i32)> = numbers.filter_map(|process| Some((process, parent(process)?))).collect();
    let mut found = vec![getpid().as_raw_nonzero().get()];
    let mut next = 0;
    while next < found.len() {
        let spared = |process: i32| next == 0 && u32::try_from(process).is_ok_and(spare);
        let children = pairs.iter().filter(|&&(process, parent)| parent == found[next] && !spared(process));
        let children: Vec<i32> = children.map(|(process, _)| *process).collect();
        found.extend(children.into_iter().filter(|process| !found.contains(process)).collect::<Vec<_>>());
        next += 1;
    }
    found[1..].iter().filter_map(|&process| Pid::from_raw(process)).collect()
}

#[cfg(unix)]
fn parent(process: i32) -> Option<i32> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // A program's name, in parentheses, may have parentheses and spaces in it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn descendants_are_found_but_for_the_spared() {
        let sleep = || Command::new("sleep").arg("100").stdin(Stdio::null()).spawn().unwrap();
        let (mut one, mut two) = (sleep(), sleep());
        let found = |spare: u32| {
            let found = descendants(&|process| process == spare);
            move |child: &Child| found.contains(&Pid::from_child(child))
        };
        assert!(found(0)(&one) && found(0)(&two));
        assert!(!found(one.id())(&one) && found(one.id())(&two));
        for child in [&mut one, &mut two] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(!found(0)(&one));
    }
}
