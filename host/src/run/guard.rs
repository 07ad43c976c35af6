//! Between the host and a trial's process: ends the trial with all that it has started when the host is gone, and all
//! that it has started when the trial has ended.
//!
//! There are two, one below the other, so that whichever two of host, guards and trial are killed in one instant, one is
//! left that all of it goes to and that starts nothing itself. A trial's process alone could not do it: what has left it
//! goes to the process above it, and one of its threads may start something while another looks for what there is. A guard
//! has no plugins in it that could take it down.

use std::io::Write;
use std::process::{Child, Command, ExitCode};
use std::time::Duration;

use super::processes::{adopt_orphans, end_descendants, end_group, has_ended, wait_for, wake_without_parent};
use super::protocol::Message;

/// How many guards a trial has.
pub const GUARDS: u8 = 2;

/// What tells a guard from the next one, and those from the trial's own process, as an argument.
pub(super) const GUARDED: &str = "--guarded";

/// How long the guards may take to end a trial with all that it has started.
pub(super) const CLEARANCE: Duration = Duration::from_secs(12);

/// How much of that the next guard has.
const NEXT_GUARD: Duration = Duration::from_secs(6);

/// Starts the next guard, or the trial's own process, with the arguments of this one, and stays until all of it is gone.
/// `above` guards are above this one.
pub fn guard(above: u8) -> ExitCode {
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
    if above + 1 < GUARDS {
        // The next guard ends all that is below it; killed at it, it would leave that to this one alone.
        wait_for(&mut trial, NEXT_GUARD);
    }
    end_group(&mut trial);
    let status = trial.wait();
    end_descendants(&|_| false);
    match status {
        Ok(status) if !abandoned => {
            // How the trial ended, the guard next to it has said, unless it was killed before.
            if above + 1 == GUARDS || status.code().is_none() {
                say(&Message::Ended(status.into()));
            }
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
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[cfg(not(unix))]
fn wait(trial: &mut Child) -> bool {
    while !has_ended(trial) {
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

fn say(message: &Message) {
    let text = serde_json::to_string(message).expect("a message is plain data");
    // The listener may be gone.
    let _ = writeln!(std::io::stdout(), "{text}");
}
