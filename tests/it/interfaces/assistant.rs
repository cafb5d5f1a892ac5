//! The server for assistants, as a client over pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::root;

/// A client with a server of its own.
struct Client {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    fn new(version: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
        command.arg("mcp").current_dir(root()).env_clear();
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let mut client = Self { server, to, from: BufReader::new(from), last: 0 };
        let agreed = client.ask(
            "initialize",
            &json!({ "protocolVersion": version, "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" } }),
        );
        assert_eq!(agreed["result"]["protocolVersion"], version);
        client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
        client
    }

    fn send(&mut self, line: &str) {
        writeln!(self.to, "{line}").unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let call = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        self.send(&call.to_string());
        let answer = self.read();
        assert_eq!(answer["id"], self.last, "{answer}");
        answer
    }

    /// The result of a tool, and its text.
    #[expect(clippy::needless_pass_by_value, reason = "arguments are written for one call")]
    fn call(&mut self, name: &str, arguments: Value) -> (Value, String) {
        let answer = self.ask("tools/call", &json!({ "name": name, "arguments": arguments }));
        let result = answer["result"].clone();
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        assert!(!text.contains('\u{1b}'), "{text}");
        (result, text)
    }

    /// Closes the connection: the server ends, and said nothing beside its answers.
    fn end(self) {
        drop(self.to);
        let output = self.server.wait_with_output().unwrap();
        assert!(output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

const DEMO: &str = "fixtures/demo/h100-training-step.csv";

#[test]
fn an_assistant_analyzes_explains_compares_predicts_and_looks_up() {
    let mut client = Client::new("2025-06-18");
    let tools = client.ask("tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["analyze", "explain", "compare", "predict", "devices"]);
    for tool in tools {
        let schema = &tool["inputSchema"];
        jsonschema::meta::validate(schema).unwrap();
        assert_eq!(
            (&schema["type"], &tool["annotations"]["readOnlyHint"]),
            (&json!("object"), &json!(true))
        );
    }
    // The text is what people read, the data what programs do.
    let (result, text) = client.call("analyze", json!({ "files": [DEMO], "top": 3 }));
    assert_eq!(result["isError"], false);
    assert_eq!(text, super::run(&[DEMO]).stdout);
    let data = &result["structuredContent"];
    let whole: Value =
        serde_json::from_str(&super::run(&[DEMO, "--format", "json"]).stdout).unwrap();
    assert_eq!(data["kernels"].as_array().unwrap().len(), 3);
    assert_eq!(data["kernels_in_all"], whole["kernels"].as_array().unwrap().len());
    assert_eq!(data["kernels"][0]["savings_s"], whole["kernels"][0]["savings_s"]);
    assert_eq!(data["totals"]["measured_s"], whole["totals"]["measured_s"]);
    assert!(data.to_string().len() < 20_000, "{}", data.to_string().len());

    let (_, text) = client.call("explain", json!({ "files": [DEMO], "kernel": "transpose*" }));
    assert!(text.contains("t_mem") && text.contains("dram__bytes_read.sum"), "{text}");
    let (_, text) = client.call("explain", json!({ "rule": "tail-effect" }));
    assert!(text.contains("What it finds"), "{text}");
    let both = json!({ "baseline": DEMO, "current": DEMO });
    let (result, text) = client.call("compare", both);
    assert!(result["isError"] == false && text.contains("the same measurement"), "{text}");
    assert_eq!(result["structuredContent"]["checks"].as_array().unwrap().len(), 10);
    let sizes = json!({ "m": 4096, "n": 4096, "k": 4096, "dtype": "bf16" });
    let predict = json!({ "kernel": "gemm", "sizes": sizes, "device": ["L4", "H100 SXM5 80GB"] });
    let (result, text) = client.call("predict", predict);
    assert!(text.contains("L4") && text.contains("H100"), "{text}");
    assert_eq!(result["structuredContent"]["schema"], "rooflint/prediction/2");
    assert!(client.call("predict", json!({})).1.contains("gemm"));
    assert!(client.call("predict", json!({ "kernel": "gemm" })).1.contains("dense matrix product"));
    let (result, _) = client.call("devices", json!({}));
    assert!(result["structuredContent"]["devices"].as_array().unwrap().len() > 100);
    let (_, text) = client.call("devices", json!({ "name": "nvidia h100-sxm5-80gb" }));
    assert!(text.contains("driver name") && text.contains("132"), "{text}");
    client.end();
}

#[test]
fn two_runs_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    crate::gate::cli::copies(folder.path(), "main", 1, ("", 1.0));
    crate::gate::cli::copies(folder.path(), "slow", 1, ("softmax", 1.5));
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let mut client = Client::new("2025-03-26");
    let both = json!({ "baseline": path("main-0.csv"), "current": path("slow-0.csv") });
    let (result, text) = client.call("compare", both);
    assert_eq!(result["isError"], false, "{text}");
    assert!(text.contains("softmax"), "{text}");
    // Earlier clients read text only.
    assert!(result.get("structuredContent").is_none());
    let data: Value = serde_json::from_str(result["content"][1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(data["part_of"], "rooflint/gate/2");
    client.end();
}

#[test]
fn what_goes_wrong_is_said_and_the_server_goes_on() {
    let mut client = Client::new("2025-06-18");
    for (tool, arguments, says) in [
        ("analyze", json!({}), "files is needed"),
        ("analyze", json!({ "files": ["-"] }), "standard input cannot be read"),
        ("analyze", json!({ "files": "no-such.csv" }), "no such file"),
        ("analyze", json!({ "files": [DEMO], "device": "H1000" }), "rooflint devices"),
        ("analyze", json!({ "files": [DEMO], "output": "x.html" }), "unknown argument"),
        ("analyze", json!({ "files": [DEMO], "top": 0 }), "1 or more"),
        ("analyze", json!({ "files": [DEMO], "kernels": [7.5, {}] }), "text"),
        ("analyze", json!({ "files": ["--version"] }), "--version: no such file"),
        ("analyze", json!({ "files": [DEMO], "device": "-o=x.html" }), "unknown device"),
        ("explain", json!({ "rule": "tail-efect" }), "did you mean"),
        ("predict", json!({ "kernel": "gemm", "sizes": { "m": 1 }, "device": "L4" }), "needs"),
        (
            "predict",
            json!({ "kernel": "gemm", "sizes": { "m": [] }, "device": "L4" }),
            "number or text",
        ),
        ("devices", json!({ "name": "H1000" }), "unknown device"),
        // What a call would ignore.
        (
            "explain",
            json!({ "rule": "tail-effect", "files": [DEMO] }),
            "a rule is documented without files",
        ),
        ("predict", json!({ "sizes": { "m": 1 } }), "sizes is of no use without kernel"),
        (
            "predict",
            json!({ "kernel": "gemm", "sizes": { "m": 1 } }),
            "sizes is of no use without device",
        ),
    ] {
        let (result, text) = client.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{arguments}: {text}");
        assert!(text.contains(says), "{arguments}: {text}");
    }
    // JSON has one kind of number.
    let (result, text) = client.call("analyze", json!({ "files": [DEMO], "top": 3.0 }));
    assert_ne!(result["isError"], true, "{text}");
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}", -32601),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"sh\"}}",
            -32602,
        ),
    ] {
        client.send(line);
        assert_eq!(client.read()["error"]["code"], code, "{line}");
    }
    client.send(&format!("\"{}\"", "x".repeat(3 << 20)));
    assert_eq!(client.read()["error"]["code"], -32600);
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{}}");
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    client.end();
}
