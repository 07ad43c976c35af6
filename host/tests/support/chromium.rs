//! A real browser, driven over its debugging pipe: nothing but files and JSON.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value as Json, json};

/// A browser with one page.
pub(crate) struct Chromium {
    child: Child,
    input: File,
    messages: Receiver<Json>,
    session: String,
    next: u64,
    /// What the page has said since it was opened: events, in order.
    pub(crate) events: Vec<Json>,
    _folder: tempfile::TempDir,
}

/// Where the browser is: `CHROMIUM`, or one of its names on the path.
fn find() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return Some(path.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

impl Chromium {
    /// Starts it; `None`, and a line that says so, where there is none.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let Some(program) = find().filter(|_| cfg!(unix)) else {
            // Past the harness, which keeps the words of tests that pass to itself.
            let words = format!(
                "skipped: {test}: no Chromium found; `.ci/run` installs it, CHROMIUM=FILE names one\n"
            );
            let _ = std::io::stderr().write_all(words.as_bytes());
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let (to, from) = (folder.path().join("to"), folder.path().join("from"));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        // The browser reads commands from descriptor 3 and answers on 4.
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$TO\" 4>\"$FROM\""])
            .arg(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--remote-debugging-pipe",
            ])
            .args(["--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb"])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .env("TO", &to)
            .env("FROM", &from)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = OpenOptions::new().write(true).open(&to).unwrap();
        let mut output = BufReader::new(File::open(&from).unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                let Ok(json) = serde_json::from_slice(&message) else { break };
                if sender.send(json).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let session = String::new();
        let mut browser =
            Self { child, input, messages, session, next: 0, events: Vec::new(), _folder: folder };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session =
            browser.call("Target.attachToTarget", attach)["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Asks for something, and answers the result.
    pub(crate) fn call(&mut self, method: &str, parameters: Json) -> Json {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let answer = self.message(method);
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn message(&mut self, waiting: &str) -> Json {
        // Not how fast it is, but that it is there at all.
        let answer = self.messages.recv_timeout(Duration::from_secs(120));
        answer.unwrap_or_else(|error| panic!("no answer from the browser to {waiting}: {error}"))
    }

    /// Opens a file in a window of this width, and waits until it is there.
    pub(crate) fn open(&mut self, file: &Path, width: u32, dark: bool) {
        self.events.clear();
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", media);
        let url = format!("file://{}", file.display());
        self.call("Page.navigate", json!({ "url": url }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.message("the page's loading");
            self.events.push(event);
        }
    }

    /// The value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Json {
        let answer = self.call(
            "Runtime.evaluate",
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }),
        );
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Clicks in the middle of an element.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.middle(selector);
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({ "type": kind, "x": place.0, "y": place.1, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Moves the pointer to the middle of an element.
    pub(crate) fn point_at(&mut self, selector: &str) {
        let (x, y) = self.middle(selector);
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    fn middle(&mut self, selector: &str) -> (f64, f64) {
        // Scrolling is told to the page in the next frame.
        let place = self.evaluate(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{ block: 'center' }}); \
             return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {{ \
             const b = e.getBoundingClientRect(); done([b.x + b.width / 2, b.y + b.height / 2]); }}))); }})()"
        ));
        (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
    }

    /// What went wrong in the page: console errors, exceptions, failures to load.
    pub(crate) fn complaints(&self) -> Vec<&Json> {
        let bad = |event: &&Json| match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Network.loadingFailed" | "Page.javascriptDialogOpening") => {
                true
            }
            Some("Runtime.consoleAPICalled") => event["params"]["type"] == "error",
            Some("Log.entryAdded") => true,
            _ => false,
        };
        self.events.iter().filter(bad).collect()
    }

    /// Every address that was asked for.
    pub(crate) fn requests(&self) -> Vec<&str> {
        let sent = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| event["params"]["request"]["url"].as_str()).collect()
    }

    /// The whole page as PNG.
    pub(crate) fn screenshot(&mut self) -> Vec<u8> {
        let parameters = json!({ "format": "png", "captureBeyondViewport": true });
        let answer = self.call("Page.captureScreenshot", parameters);
        decode(answer["data"].as_str().unwrap())
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.input.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.child.wait();
    }
}

/// Base64.
fn decode(text: &str) -> Vec<u8> {
    let digit = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for chunk in text.trim_end_matches('=').as_bytes().chunks(4) {
        let word =
            chunk.iter().enumerate().fold(0_u32, |word, (i, &c)| word | u32::from(digit(c)) << (18 - 6 * i));
        bytes.extend(&word.to_be_bytes()[1..chunk.len()]);
    }
    bytes
}
