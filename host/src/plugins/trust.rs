//! Who could have put code into a plugin's file. Loading a plugin runs it with all rights of the user who runs the host,
//! so a file or folder that others may write to is refused.

use std::fmt;
use std::path::{Path, PathBuf};

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

/// Refuses a plugin's file that others may write to or replace.
///
/// The file and its folder have to belong to this user or the administrator. A folder above may be open to all where
/// it is sticky, as `/tmp` is: nobody can move what is another's there.
#[cfg(unix)]
pub fn check(file: &Path) -> Result<(), Insecure> {
    // A file that is not there, or not to be seen, is the loader's to report.
    let (Ok(named), Ok(real)) = (std::path::absolute(file), file.canonicalize()) else { return Ok(()) };
    let us = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    // Who may replace a symbolic link decides where it leads.
    for way in [named, real] {
        for (depth, path) in way.ancestors().enumerate() {
            let Ok(metadata) = path.metadata() else { continue };
            if let Some(who) = writer(&Access::of(&metadata), depth, us) {
                return Err(Insecure { path: path.to_owned(), who });
            }
        }
    }
    Ok(())
}

/// On other systems than Unix, nobody is refused: permissions there cannot be read this way.
#[cfg(not(unix))]
pub fn check(_file: &Path) -> Result<(), Insecure> {
    Ok(())
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
    fn of(metadata: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self { user: metadata.uid(), group: metadata.gid(), mode: metadata.mode() }
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
    // Above that, owners are not looked at: in a container, a folder mounted from outside often has another one.
    (depth <= 1 && ![ROOT, user].contains(&access.user)).then_some(Who::Owner(access.user))
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
        assert_eq!(of(1001, 1001, 0o755, 2), None);
    }

    #[test]
    fn a_file_or_a_folder_on_the_way_that_all_may_write_to_is_refused() {
        let top = tempfile::tempdir().unwrap();
        let middle = top.path().join("middle");
        let folder = middle.join("plugins");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("libsolver_x.so");
        std::fs::write(&file, "").unwrap();
        assert_eq!(check(&file), Ok(()));
        for open in [&file, &folder, &middle] {
            let mode = open.metadata().unwrap().permissions();
            std::fs::set_permissions(open, PermissionsExt::from_mode(0o777)).unwrap();
            let refused = check(&file).unwrap_err();
            assert_eq!((refused.path.file_name(), refused.who), (open.file_name(), Who::Everyone));
            std::fs::set_permissions(open, mode).unwrap();
        }
        // A link is as safe as where it stands and what it leads to.
        let link = middle.join("link.so");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(check(&link), Ok(()));
        std::fs::set_permissions(&middle, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(check(&link).is_err());
        assert_eq!(check(&top.path().join("nothing")), Ok(()));
    }
}
