use super::*;

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    replace(&path, b"one").unwrap();
    let failed = Folder::open(folder.path()).unwrap().replace_with("a.json", |file| {
        file.write_all(b"half")?;
        Err(io::Error::other("the disk is full"))
    });
    assert!(failed.is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"one");
    replace(&path, b"two").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"two");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
}

#[test]
fn many_at_once_write_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    std::thread::scope(|scope| {
        for writer in 0..8_u8 {
            let path = &path;
            scope.spawn(move || (0..50).for_each(|_| replace(path, &[writer; 1000]).unwrap()));
        }
    });
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.len() == 1000 && bytes.iter().all(|byte| *byte == bytes[0]));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn no_link_is_followed_and_nothing_but_a_plain_file_opened() {
    use std::os::unix::fs::symlink;
    let (top, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let precious = other.path().join("precious");
    std::fs::write(&precious, "precious").unwrap();
    let folder = Folder::open(top.path()).unwrap();
    symlink(&precious, top.path().join("file")).unwrap();
    symlink(other.path(), top.path().join("folder")).unwrap();
    symlink(top.path().join("nowhere"), top.path().join("dangling")).unwrap();
    std::fs::create_dir(top.path().join("real")).unwrap();
    let words = |error: io::Error| error.to_string();
    for name in ["file", "dangling", "real", "folder"] {
        assert!(words(folder.replace(name, b"x").unwrap_err()).contains("is in the way at"), "{name}");
        for access in [Access::Read, Access::ReadAndWrite, Access::Append] {
            assert!(open(&top.path().join(name), access).is_err(), "{name}");
        }
    }
    assert!(words(folder.below("folder").unwrap_err()).contains("a link is in the way at"));
    assert!(folder.below("real").unwrap().replace("x", b"x").is_ok());
    assert!(refuse_links_below(top.path(), &["real", "x"]).is_ok());
    assert!(refuse_links_below(top.path(), &["folder", "precious"]).is_err());
    rustix::fs::mknodat(
        rustix::fs::CWD,
        top.path().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    // Nobody is waited for.
    assert!(words(read(&top.path().join("pipe")).unwrap_err()).contains("no plain file is in the way"));
    assert_eq!(std::fs::read(&precious).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 1);
}

#[test]
fn what_a_killed_writer_left_is_cleared_and_what_is_being_written_is_not() {
    let top = tempfile::tempdir().unwrap();
    let folder = Folder::open(top.path()).unwrap();
    std::fs::write(top.path().join(".a.json.1-1.new"), "half").unwrap();
    folder
        .replace_with("b", |file| {
            folder.clear();
            file.write_all(b"whole")
        })
        .unwrap();
    let names: Vec<_> =
        std::fs::read_dir(top.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["b"]);
}

#[test]
fn the_last_whole_line_is_found_from_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines");
    let last = |text: &str| {
        std::fs::write(&path, text).unwrap();
        last_line(&path).unwrap().map(|line| String::from_utf8(line).unwrap())
    };
    assert_eq!(last(""), None);
    assert_eq!(last("torn"), None);
    assert_eq!(last("one\n").as_deref(), Some("one"));
    assert_eq!(last("a long one\ntwo\n").as_deref(), Some("two"));
    assert_eq!(last("a long one\ntwo\nto").as_deref(), Some("two"));
    let long = "x".repeat(3 << 20);
    assert_eq!(last(&format!("{long}\n{long}y\nto")), Some(format!("{long}y")));
    assert_eq!(last(&format!("{long}\n")), Some(long));
}
