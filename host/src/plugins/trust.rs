//! Who could have put code into a plugin's file. Loading a plugin runs it with all rights of the user who runs the host,
//! so a file or folder that others may write to is refused.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Why a plugin's file was not opened.
#[derive(Debug)]
pub(super) enum Refused {
    Insecure(Insecure),
    Unreadable(std::io::Error),
}

impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// Others may write to a file, or to a folder on the way to it.
#[derive(Debug, PartialEq, Eq)]
pub struct Insecure {
    /// The file or folder.
    pub path: PathBuf,
    /// Who may write there.
    pub who: Who,
}

/// Somebody who is neither this user nor the administrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Every user of the machine.
    Everyone,
    /// The members of a group that is not this user's own.
    Group(u32),
    /// Another user, who owns it.
    Owner(u32),
}

impl fmt::Display for Insecure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.who {
            Who::Everyone => write!(f, "every user of this machine may write to {path}"),
            Who::Group(group) => write!(f, "every member of group {group} may write to {path}"),
            Who::Owner(user) => write!(f, "{path} belongs to another user ({user})"),
        }
    }
}

/// Opens a plugin's file, unless others may write to it or replace it. What is checked is what is opened: the way to it is
/// gone once, from the root, one folder after the other, each looked at when it is open.
///
/// Everything on the way has to belong to this user or the administrator, links too: who owns a link decides where it
/// leads. A folder above the file's own may be open to all where it is sticky, as `/tmp` is: nobody can move what is
/// another's there.
#[cfg(unix)]
pub(super) fn open(file: &Path) -> Result<(File, PathBuf), Refused> {
    let us = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let unmapped = unmapped_user();
    let (opened, path, way) = walk(&std::path::absolute(file)?)?;
    for (i, (step, access)) in way.iter().enumerate() {
        let depth = way.len() - 1 - i;
        let outsider = depth > 1 && unmapped == Some(access.user);
        match writer(access, depth, us) {
            Some(Who::Owner(_)) if outsider => {}
            Some(who) => return Err(Refused::Insecure(Insecure { path: step.clone(), who })),
            None => {}
        }
    }
    Ok((opened, path))
}

/// On other systems than Unix, nobody is refused: permissions there cannot be read this way.
#[cfg(not(unix))]
pub(super) fn open(file: &Path) -> Result<(File, PathBuf), Refused> {
    open_anyway(file)
}

/// Opens a file without asking whose it is.
pub(super) fn open_anyway(file: &Path) -> Result<(File, PathBuf), Refused> {
    let path = file.canonicalize()?;
    Ok((File::open(&path)?, path))
}

/// What was passed on the way to a file, from the root on.
#[cfg(unix)]
type Way = Vec<(PathBuf, Access)>;

/// The file at the end of a path without links, and whose each folder, link and the file itself is, from the root on.
#[cfg(unix)]
fn walk(path: &Path) -> std::io::Result<(File, PathBuf, Way)> {
    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, readlinkat, statat};
    use std::os::unix::ffi::OsStringExt;
    const MOST_LINKS: usize = 40;
    // Where a folder can be passed without the right to list it, that right is not asked for.
    #[cfg(target_os = "linux")]
    let passing = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let passing = OFlags::RDONLY;
    let folder_flags = passing | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let root = || openat(CWD, "/", folder_flags, Mode::empty());
    let mut links = 0;
    let mut left: Vec<OsString> = parts(path);
    let (mut folder, mut real) = (root()?, PathBuf::from("/"));
    let mut way = vec![(real.clone(), Access::of(&fstat(&folder)?))];
    while let Some(part) = left.pop() {
        if part == ".." {
            real.pop();
            folder = openat(&folder, "..", folder_flags, Mode::empty())?;
            continue;
        }
        let here = real.join(&part);
        let found = statat(&folder, &part, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(std::io::Error::other("too many links"));
                }
                // Where the system can hold a link, whose it is and where it leads is asked of the same one.
                #[cfg(target_os = "linux")]
                let (found, target) = {
                    let link_flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let link = openat(&folder, &part, link_flags, Mode::empty())?;
                    (fstat(&link)?, readlinkat(&link, "", Vec::new())?)
                };
                #[cfg(not(target_os = "linux"))]
                let target = readlinkat(&folder, &part, Vec::new())?;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                // A link has no permissions of its own.
                way.push((here, Access { mode: 0, ..Access::of(&found) }));
                if target.is_absolute() {
                    (folder, real) = (root()?, PathBuf::from("/"));
                }
                left.extend(parts(&target));
            }
            FileType::Directory if !left.is_empty() => {
                folder = openat(&folder, &part, folder_flags, Mode::empty())?;
                real = here;
                way.push((real.clone(), Access::of(&fstat(&folder)?)));
            }
            _ => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let file = File::from(openat(&folder, &part, flags, Mode::empty())?);
                if !left.is_empty() || !file.metadata()?.is_file() {
                    return Err(std::io::Error::other("this is no file"));
                }
                // The folder it is in stands next to it, also where the last step was a link.
                way.retain(|(path, _)| *path != real);
                way.push((real.clone(), Access::of(&fstat(&folder)?)));
                way.push((here.clone(), Access::of(&fstat(&file)?)));
                return Ok((file, here, way));
            }
        }
    }
    Err(std::io::Error::other("this is no file"))
}

/// The parts of a path, the last one first.
#[cfg(unix)]
fn parts(path: &Path) -> Vec<OsString> {
    use std::path::Component;
    let part = |component: Component<'_>| match component {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    let mut parts: Vec<OsString> = path.components().filter_map(part).collect();
    parts.reverse();
    parts
}

/// The user that owns what belongs to users outside of this container, where this is one: its own root folder is theirs.
#[cfg(unix)]
fn unmapped_user() -> Option<u32> {
    let map = std::fs::read_to_string("/proc/self/uid_map").ok()?;
    if map.split_whitespace().eq(["0", "0", "4294967295"]) {
        return None;
    }
    std::fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?.trim().parse().ok()
}

/// Owner, group and permissions.
#[cfg(unix)]
struct Access {
    user: u32,
    group: u32,
    mode: u32,
}

#[cfg(unix)]
impl Access {
    #[allow(clippy::useless_conversion, reason = "modes have 16 bits on some systems")]
    fn of(stat: &rustix::fs::Stat) -> Self {
        Self { user: stat.st_uid, group: stat.st_gid, mode: stat.st_mode.into() }
    }
}

/// Who else may write to a file (depth 0), its folder (1) or a folder above.
#[cfg(unix)]
fn writer(access: &Access, depth: usize, (user, group): (u32, u32)) -> Option<Who> {
    const ROOT: u32 = 0;
    let sticky = depth > 1 && access.mode & 0o1000 != 0;
    if access.mode & 0o002 != 0 && !sticky {
        return Some(Who::Everyone);
    }
    // A group of one's own is how many systems set new users up; the administrator's is the administrator.
    if access.mode & 0o020 != 0 && !sticky && ![ROOT, group].contains(&access.group) {
        return Some(Who::Group(access.group));
    }
    (![ROOT, user].contains(&access.user)).then_some(Who::Owner(access.user))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const US: (u32, u32) = (1000, 1000);

    #[test]
    fn who_may_write_is_told_by_owner_group_and_mode() {
        let of = |user, group, mode, depth| writer(&Access { user, group, mode }, depth, US);
        for depth in 0..4 {
            assert_eq!(of(1000, 1000, 0o755, depth), None);
            assert_eq!(of(0, 0, 0o775, depth), None);
            assert_eq!(of(1000, 1000, 0o775, depth), None, "a group of one's own");
            assert_eq!(of(1000, 50, 0o775, depth), Some(Who::Group(50)));
            assert_eq!(of(1000, 1000, 0o777, depth), Some(Who::Everyone));
        }
        assert_eq!(of(0, 0, 0o1777, 2), None, "/tmp above the plugin's folder");
        assert_eq!(of(0, 0, 0o1777, 1), Some(Who::Everyone), "/tmp as the plugin's folder");
        assert_eq!(of(1001, 1001, 0o755, 1), Some(Who::Owner(1001)));
        assert_eq!(of(1001, 1001, 0o755, 2), Some(Who::Owner(1001)), "who owns a folder moves what is in it");
    }

    #[test]
    fn a_file_or_a_folder_on_the_way_that_all_may_write_to_is_refused() {
        let top = tempfile::tempdir().unwrap();
        let middle = top.path().join("middle");
        let folder = middle.join("plugins");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("libsolver_x.so");
        std::fs::write(&file, "").unwrap();
        assert_eq!(check(&file), None);
        for insecure in [&file, &folder, &middle] {
            let mode = insecure.metadata().unwrap().permissions();
            std::fs::set_permissions(insecure, PermissionsExt::from_mode(0o777)).unwrap();
            let refused = check(&file).unwrap();
            assert_eq!((refused.path.file_name(), refused.who), (insecure.file_name(), Who::Everyone));
            std::fs::set_permissions(insecure, mode).unwrap();
        }
        // A link is as safe as where it stands and what it leads to.
        let link = middle.join("link.so");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(check(&link), None);
        std::fs::set_permissions(&middle, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(check(&link).is_some());
        assert!(matches!(open(&top.path().join("nothing")), Err(Refused::Unreadable(_))));
        assert!(matches!(open(&middle), Err(Refused::Unreadable(_))));
    }

    fn check(file: &Path) -> Option<Insecure> {
        match open(file) {
            Ok(_) => None,
            Err(Refused::Insecure(insecure)) => Some(insecure),
            Err(Refused::Unreadable(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn a_link_that_another_user_owns_is_refused_wherever_it_leads() {
        if rustix::process::geteuid().as_raw() != 0 {
            return eprintln!("skipped: only the administrator can give a link to another user");
        }
        let top = tempfile::tempdir().unwrap();
        let (open_to_all, folder) = (top.path().join("open"), top.path().join("plugins"));
        std::fs::create_dir(&open_to_all).unwrap();
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&open_to_all, PermissionsExt::from_mode(0o1777)).unwrap();
        std::fs::write(folder.join("libsolver_x.so"), "x").unwrap();
        let link = open_to_all.join("link");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        let file = link.join("libsolver_x.so");
        assert_eq!(check(&file), None, "our own link");
        std::os::unix::fs::lchown(&link, Some(1234), None).unwrap();
        assert_eq!(
            check(&file),
            Some(Insecure { path: open_to_all.canonicalize().unwrap().join("link"), who: Who::Owner(1234) })
        );
        // A folder of theirs, on the way or as a link's target, is theirs to exchange.
        std::fs::remove_file(&link).unwrap();
        let theirs = open_to_all.join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        std::fs::create_dir(theirs.join("ours")).unwrap();
        std::fs::write(theirs.join("ours/libsolver_x.so"), "x").unwrap();
        std::os::unix::fs::chown(&theirs, Some(1234), None).unwrap();
        assert_eq!(check(&theirs.join("ours/libsolver_x.so")).unwrap().who, Who::Owner(1234));
        // Through a link that leads up and down again, too.
        std::os::unix::fs::symlink("../open/theirs/../theirs/ours", folder.join("round")).unwrap();
        assert_eq!(check(&folder.join("round/libsolver_x.so")).unwrap().who, Who::Owner(1234));
    }

    #[test]
    fn what_is_checked_is_what_is_opened() {
        let top = tempfile::tempdir().unwrap();
        let (one, two, link) = (top.path().join("one"), top.path().join("two"), top.path().join("link"));
        for folder in [&one, &two] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("x"), folder.to_str().unwrap()).unwrap();
        }
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let (mut file, path) = open(&link.join("x")).unwrap();
        // A link that is turned now is turned too late.
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&two, &link).unwrap();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut file, &mut text).unwrap();
        assert_eq!(text, one.to_str().unwrap());
        assert_eq!(path, one.join("x").canonicalize().unwrap());
    }
}
