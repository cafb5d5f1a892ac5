//! A browser without a window, driven through the Chrome `DevTools` Protocol.
//!
//! The protocol runs over two pipes (`--remote-debugging-pipe`), which a shell opens as file
//! descriptors 3 and 4: no port is opened, no network is touched, and no crate is built for it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Longer than anything a page does, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A running browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: File,
    from: Receiver<Value>,
    session: String,
    next: u64,
    /// What happened since it was last asked for.
    events: VecDeque<Value>,
    /// Whether scripts of pages run.
    lively: bool,
    folder: tempfile::TempDir,
}

/// The browser of this machine: `$CHROME`, else a Chromium or Chrome on the path.
fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROME") {
        return Some(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

impl Browser {
    /// Starts a browser; without one the test is skipped, and says so.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = program().filter(|_| cfg!(unix)) else {
            println!("SKIPPED: no Chromium or Chrome on the path to look at the page with");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let (to, from) = (folder.path().join("to"), folder.path().join("from"));
        assert!(Command::new("mkfifo").arg(&to).arg(&from).status().unwrap().success());
        let mut command = Command::new("sh");
        // `exec` keeps the process, so that it can be ended.
        command.args(["-c", "exec \"$0\" \"$@\" 3<\"$TO\" 4>\"$FROM\""]).arg(program);
        command.args([
            "--headless=new",
            "--remote-debugging-pipe",
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-default-apps",
            "--disable-dev-shm-usage",
            "--disable-extensions",
            "--disable-gpu",
            "--disable-sync",
            "--hide-scrollbars",
            "--mute-audio",
        ]);
        // As root, as in most containers, there is no sandbox to be had.
        command.args(is_root().then_some("--no-sandbox"));
        command.arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
        command.env("TO", &to).env("FROM", &from).env("HOME", folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        // Opening waits for the other side, in the order in which the shell opens them.
        let to = File::options().write(true).open(to).unwrap();
        let from = messages(File::open(from).unwrap());
        let mut browser = Self {
            child,
            to,
            from,
            session: String::new(),
            next: 0,
            events: VecDeque::new(),
            lively: true,
            folder,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", target);
        attached["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.media(false, false);
        Some(browser)
    }

    /// Calls a method of the protocol and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, parameters: impl Into<Value>) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": parameters.into() });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let mut message = self
                .from
                .recv_timeout(left)
                .unwrap_or_else(|error| panic!("{method}: the browser does not answer: {error}"));
            if message["id"] == json!(id) {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            if message["method"].is_string() {
                self.events.push_back(message);
            }
        }
    }

    /// Writes a page into a file of its own and opens it; returns when all of it is loaded.
    pub(crate) fn show(&mut self, html: &str) -> String {
        let file = self.folder.path().join("page.html");
        std::fs::write(&file, html).unwrap();
        self.open(&file, "")
    }

    /// Opens a file with a fragment, anew; returns the address.
    pub(crate) fn open(&mut self, file: &Path, fragment: &str) -> String {
        // From an empty page: a change of the fragment alone would load nothing.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.wait("location.href === 'about:blank'");
        self.events.clear();
        let address = format!("file://{}{fragment}", file.display());
        self.call("Page.navigate", json!({ "url": address }));
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'");
        self.settle();
        address
    }

    /// The page last shown, opened with a fragment.
    pub(crate) fn reopen(&mut self, fragment: &str) {
        let file = self.folder.path().join("page.html");
        self.open(&file, fragment);
    }

    /// The value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true,
        });
        let mut answer = self.call("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// The value of an expression that is a text.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        match self.evaluate(expression) {
            Value::String(text) => text,
            other => panic!("{expression} is {other}, not a text"),
        }
    }

    /// The value of an expression that is a number.
    pub(crate) fn number(&mut self, expression: &str) -> f64 {
        let value = self.evaluate(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}, not a number"))
    }

    /// Whether an expression is true.
    pub(crate) fn holds(&mut self, expression: &str) -> bool {
        self.evaluate(expression) == json!(true)
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&mut self, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.holds(expression) {
            assert!(Instant::now() < until, "never: {expression}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Lets two frames pass: what was asked for is drawn.
    pub(crate) fn settle(&mut self) {
        if !self.lively {
            // Without scripts no frame calls back, and nothing moves.
            std::thread::sleep(Duration::from_millis(100));
            return;
        }
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))",
        );
    }

    /// Moves the pointer.
    pub(crate) fn point(&mut self, x: f64, y: f64) {
        self.mouse("mouseMoved", x, y, "none");
        self.settle();
    }

    /// Presses the main button at a place.
    pub(crate) fn click(&mut self, x: f64, y: f64) {
        self.mouse("mouseMoved", x, y, "none");
        self.mouse("mousePressed", x, y, "left");
        self.mouse("mouseReleased", x, y, "left");
        self.settle();
    }

    /// Presses the main button at one place and lets it go at another.
    pub(crate) fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.mouse("mouseMoved", from.0, from.1, "none");
        self.mouse("mousePressed", from.0, from.1, "left");
        let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
        for (x, y) in [middle, to] {
            self.mouse("mouseMoved", x, y, "left");
        }
        self.mouse("mouseReleased", to.0, to.1, "left");
        self.settle();
    }

    fn mouse(&mut self, kind: &str, x: f64, y: f64, button: &str) {
        let pressed = u8::from(button == "left" && kind != "mouseReleased");
        let parameters = json!({
            "type": kind, "x": x, "y": y, "button": button, "buttons": pressed, "clickCount": 1,
        });
        self.call("Input.dispatchMouseEvent", parameters);
    }

    /// Turns the wheel at a place.
    pub(crate) fn wheel(&mut self, x: f64, y: f64, down: f64) {
        let parameters =
            json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": down });
        self.call("Input.dispatchMouseEvent", parameters);
        self.settle();
    }

    /// Presses a key, such as `Enter` or `a`.
    pub(crate) fn key(&mut self, key: &str) {
        let code = match key {
            "Enter" => 13,
            "Tab" => 9,
            "Escape" => 27,
            _ => 0,
        };
        let mut press = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        match key {
            "Enter" => press["text"] = json!("\r"),
            key if key.chars().count() == 1 => press["text"] = json!(key),
            _ => {}
        }
        self.call("Input.dispatchKeyEvent", press);
        let release = json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", release);
        self.settle();
    }

    /// Types a text into what has the focus.
    pub(crate) fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
        self.settle();
    }

    /// Sets the size of the window, in pixels of a screen of ordinary density.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let parameters =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", parameters);
        self.settle();
    }

    /// Shows the page as on paper, or to someone who prefers a dark ground.
    pub(crate) fn media(&mut self, print: bool, dark: bool) {
        let (media, scheme) =
            (if print { "print" } else { "" }, if dark { "dark" } else { "light" });
        // Smooth scrolling would still move what is pressed.
        let feature = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.call("Emulation.setEmulatedMedia", json!({ "media": media, "features": feature }));
        self.settle();
    }

    /// Turns scripts of pages on or off.
    pub(crate) fn scripts(&mut self, on: bool) {
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": !on }));
        self.lively = on;
    }

    /// What is in view: red, green and blue of every pixel. `$PICTURES` names a folder to keep it in.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        self.settle();
        let answer = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = STANDARD.decode(answer["data"].as_str().unwrap()).unwrap();
        if let Some(folder) = std::env::var_os("PICTURES") {
            let name = std::thread::current().name().unwrap_or("page").replace("::", "-");
            let file = PathBuf::from(folder).join(format!("{name}-{}.png", self.next));
            std::fs::write(file, &bytes).unwrap();
        }
        let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        pixels.truncate(frame.buffer_size());
        match frame.color_type {
            png::ColorType::Rgba => {
                pixels.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
            }
            _ => pixels,
        }
    }

    /// Complaints on the console, exceptions, and what the policy refused, since the page was opened.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        self.settle();
        let complaint = |event: &Value| {
            let what = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(what["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" => Some(what["args"].to_string()),
                "Log.entryAdded" => Some(what["entry"].to_string()),
                _ => None,
            }
        };
        self.events.iter().filter_map(complaint).collect()
    }

    /// Addresses that were asked for since the page was opened, without data in the page itself; what
    /// [`Self::complaints`] waited for is among them.
    pub(crate) fn requests(&self) -> Vec<String> {
        let asked =
            self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let addresses = asked.filter_map(|event| event["params"]["request"]["url"].as_str());
        addresses.filter(|address| !address.starts_with("data:")).map(str::to_owned).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}

/// Reads messages, each ended by a zero, in a thread of their own: so waiting can have an end.
fn messages(pipe: File) -> Receiver<Value> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        loop {
            let mut bytes = Vec::new();
            match reader.read_until(0, &mut bytes) {
                Ok(length) if length > 0 => {}
                _ => return,
            }
            let text = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
            let Ok(message) = serde_json::from_slice(text) else { continue };
            if send.send(message).is_err() {
                return;
            }
        }
    });
    receive
}
