//! Between the host and a trial's process: ends the trial with all that it has started when the host is gone, and all
//! that it has started when the trial has ended.
//!
//! Whichever of the three is killed, another is left to clear up. The guard has no plugins in it that could take it down.

use std::io::Write;
use std::process::{Child, Command, ExitCode};

use super::processes::{adopt_orphans, end_descendants, end_group, has_ended, wake_without_parent};
use super::protocol::Message;

/// What tells the trial's own process from its guard, as an argument.
pub const GUARDED: &str = "--guarded";

/// Starts the trial's own process with the arguments of this one, and stays until all of it is gone.
pub fn guard() -> ExitCode {
    adopt_orphans();
    wake_without_parent();
    let mut trial = match start() {
        Ok(trial) => trial,
        Err(error) => {
            say(&Message::Failed { reason: format!("cannot start a process: {error}") });
            return 1.into();
        }
    };
    let abandoned = wait(&mut trial);
    end_group(&mut trial);
    let status = trial.wait();
    end_descendants(&|_| false);
    match status {
        Ok(status) if !abandoned => {
            say(&Message::Ended(status.into()));
            status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1).into()
        }
        _ => 1.into(),
    }
}

fn start() -> std::io::Result<Child> {
    let mut command = Command::new(super::own_executable()?);
    command.args(std::env::args_os().skip(1)).arg(GUARDED);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}

/// Waits for the trial's end, or for the end of the host; answers whether it was that.
#[cfg(unix)]
fn wait(trial: &mut Child) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    // Nothing is read: that is for the trial.
    let lifeline = std::io::stdin();
    #[cfg(target_os = "linux")]
    let end = {
        use rustix::process::{Pid, PidfdFlags, pidfd_open};
        pidfd_open(Pid::from_child(trial), PidfdFlags::empty()).ok()
    };
    #[cfg(not(target_os = "linux"))]
    let end: Option<std::os::fd::OwnedFd> = None;
    // Where the system cannot tell at once that a process has ended, it is looked at now and then.
    let often = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    let pause = end.is_none().then_some(&often);
    loop {
        let mut waited = vec![PollFd::new(&lifeline, PollFlags::empty())];
        waited.extend(end.iter().map(|end| PollFd::new(end, PollFlags::IN)));
        let polled = poll(&mut waited, pause);
        if has_ended(trial) {
            return false;
        }
        if waited[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return true;
        }
        if polled.is_err() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[cfg(not(unix))]
fn wait(trial: &mut Child) -> bool {
    while !has_ended(trial) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    false
}

fn say(message: &Message) {
    let text = serde_json::to_string(message).expect("a message is plain data");
    // The listener may be gone.
    let _ = writeln!(std::io::stdout(), "{text}");
}
