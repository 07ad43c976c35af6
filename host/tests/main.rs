//! What the `host` binary does, as a person or a script sees it. All files are one program: it is linked once, and while a
//! test of one file waits, those of another run. `cargo test -p host --test all kills::` runs those of one file.
#![allow(clippy::unwrap_used, reason = "`unwrap` is for tests, their helpers among them")]

mod support;

#[cfg(target_os = "linux")]
mod adversity;
mod architecture;
#[cfg(unix)]
mod c_plugins;
#[cfg(unix)]
mod checks;
mod cli;
#[cfg(target_os = "linux")]
mod clock;
#[cfg(unix)]
mod cluster;
mod constraints;
#[cfg(unix)]
mod extend;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod garbled;
mod given;
mod installation;
#[cfg(unix)]
mod kills;
#[cfg(unix)]
mod laboratory;
#[cfg(unix)]
mod liars;
#[cfg(unix)]
mod logs;
mod manifests;
#[cfg(unix)]
mod noise;
#[cfg(target_os = "linux")]
mod orphans;
mod own_plugin;
#[cfg(unix)]
mod pages;
#[cfg(unix)]
mod programs;
mod readers;
mod reports;
mod results;
#[cfg(unix)]
mod rounds;
mod rules;
mod runs;
#[cfg(unix)]
mod security;
#[cfg(unix)]
mod shards;
mod shared;
#[cfg(unix)]
mod skeletons;
#[cfg(target_os = "linux")]
mod slurm;
#[cfg(target_os = "linux")]
mod soak;
mod solve;
#[cfg(unix)]
mod strangers;
#[cfg(unix)]
mod told;
#[cfg(unix)]
mod trust;
