//! `mcp`: a server for assistants, by the Model Context Protocol over standard input and output.
//!
//! JSON-RPC 2.0, a message on each line, written here: the well-kept crate for the protocol needs an async runtime,
//! which this program does not link (`deny.toml`), and a server that answers one call after the other needs none.

mod arguments;
mod message;
mod tools;

use std::io::{self, BufRead, Read, Write};

use serde_json::{Map, Value, json};

use super::exit::Failure;
use message::{Call, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, Refusal};

/// Versions of the protocol that are spoken, the newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];

/// The longest message that is read; calls name files and hold none.
const LONGEST: usize = 1 << 20;

/// What an assistant reads before it calls a tool.
const INSTRUCTIONS: &str = "rooflint reads GPU profiler exports (Nsight Compute, Nsight Systems, PyTorch, rocprof and others) and compares \
     each kernel with the roofline of its GPU. Call analyze on an export first; explain one kernel for its arithmetic; \
     compare two runs; predict a kernel's time without a profile; devices lists GPUs. Files are named by path and read \
     on this machine. Kernels that lack counters are not judged: do not treat them as good or bad.";

pub(super) fn run() -> Result<(), Failure> {
    let served = serve(&mut io::stdin().lock(), &mut io::stdout().lock());
    match served {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Failure::stdout),
    }
}

/// Answers messages until there are no more.
fn serve(from: &mut dyn BufRead, to: &mut dyn Write) -> io::Result<()> {
    let mut server = Server { version: VERSIONS[0] };
    let mut line = Vec::new();
    while next(from, &mut line)? {
        let answer = if line.len() > LONGEST {
            let text = format!("the message is longer than {LONGEST} bytes");
            Some(message::refused(&Value::Null, &Refusal::new(INVALID_REQUEST, text)))
        } else if line.trim_ascii().is_empty() {
            None
        } else {
            server.answer(&line)
        };
        if let Some(answer) = answer {
            serde_json::to_writer(&mut *to, &answer)?;
            to.write_all(b"\n")?;
            to.flush()?;
        }
    }
    Ok(())
}

/// Reads a line, of one that is too long a little more than is allowed; false at the end.
fn next(from: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let most = LONGEST as u64 + 1;
    if from.take(most).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.len() as u64 == most && line.last() != Some(&b'\n') {
        from.skip_until(b'\n')?;
    }
    Ok(true)
}

struct Server {
    /// The version that the client and this server agreed on.
    version: &'static str,
}

impl Server {
    /// The answer to a message, or to several at once; none to notifications.
    fn answer(&mut self, line: &[u8]) -> Option<Value> {
        let text = match serde_json::from_slice::<Value>(line) {
            Ok(message) => message,
            Err(error) => {
                let refusal = Refusal::new(PARSE_ERROR, format!("not JSON: {error}"));
                return Some(message::refused(&Value::Null, &refusal));
            }
        };
        match text {
            Value::Array(all) if !all.is_empty() => {
                let answers: Vec<Value> = all.iter().filter_map(|one| self.one(one)).collect();
                (!answers.is_empty()).then_some(Value::Array(answers))
            }
            one => self.one(&one),
        }
    }

    fn one(&mut self, message: &Value) -> Option<Value> {
        match Call::of(message) {
            Ok(Some(Call { id, method, params })) => {
                let objection = || Refusal::new(INVALID_PARAMS, "params must be an object");
                let params = params.ok_or_else(objection);
                Some(match params.and_then(|params| self.result(method, params)) {
                    Ok(result) => message::result(id, &result),
                    Err(refusal) => message::refused(id, &refusal),
                })
            }
            Ok(None) => None,
            Err(refusal) => Some(message::refused(&Value::Null, &refusal)),
        }
    }

    fn result(&mut self, method: &str, params: &Map<String, Value>) -> Result<Value, Refusal> {
        match method {
            "initialize" => Ok(self.initialize(params)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({ "tools": tools::list() })),
            "tools/call" => self.call(params),
            _ => {
                let message = format!("unknown method {method:?}");
                Err(Refusal::new(METHOD_NOT_FOUND, message))
            }
        }
    }

    /// The version that the client asks for where it is known, else the newest; the client decides.
    fn initialize(&mut self, params: &Map<String, Value>) -> Value {
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        let known = VERSIONS.into_iter().find(|version| Some(*version) == asked);
        self.version = known.unwrap_or(VERSIONS[0]);
        json!({
            "protocolVersion": self.version,
            "capabilities": { "tools": { "listChanged": false } },
            "serverInfo": {
                "name": "rooflint", "title": "rooflint", "version": env!("CARGO_PKG_VERSION"),
            },
            "instructions": INSTRUCTIONS,
        })
    }

    /// Runs a tool. What goes wrong in it is a result that says so, for the assistant to read.
    fn call(&self, params: &Map<String, Value>) -> Result<Value, Refusal> {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let none = Map::new();
        let given = match params.get("arguments") {
            None | Some(Value::Null) => &none,
            Some(Value::Object(given)) => given,
            Some(_) => return Err(Refusal::new(INVALID_PARAMS, "arguments must be an object")),
        };
        let Some(tool) = tools::find(name) else {
            return Err(Refusal::new(INVALID_PARAMS, format!("unknown tool {name:?}")));
        };
        let answer = tools::answer(tool, given);
        let mut content = vec![json!({ "type": "text", "text": answer.text })];
        let mut result = json!({ "isError": answer.is_error });
        if let Some(data) = answer.data {
            if self.version >= "2025-06-18" {
                result["structuredContent"] = data;
            } else {
                // Clients of earlier versions read text only.
                content.push(json!({ "type": "text", "text": data.to_string() }));
            }
        }
        result["content"] = Value::Array(content);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers to these lines, as JSON.
    fn answers(lines: &[u8]) -> Vec<Value> {
        let mut written = Vec::new();
        serve(&mut &*lines, &mut written).unwrap();
        let text = String::from_utf8(written).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn versions_are_negotiated() {
        for (asked, agreed) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-03-26", "2025-03-26"),
            ("2025-06-18", "2025-06-18"),
            ("2099-01-01", "2025-06-18"),
        ] {
            let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize",
                "params": { "protocolVersion": asked, "capabilities": {} } });
            let answer = &answers(line.to_string().as_bytes())[0];
            assert_eq!(answer["result"]["protocolVersion"], agreed);
            assert_eq!(answer["result"]["serverInfo"]["name"], "rooflint");
        }
    }

    #[test]
    fn what_is_no_request_is_answered_or_ignored_and_the_next_line_is_read() {
        let long = "x".repeat(LONGEST + 10);
        let lines = format!(
            "{{\"jsonrpc\":\n\n{long}\n[]\n7\n{{\"id\": 1, \"method\": \"ping\"}}\n\
             {{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}}\n\
             {{\"jsonrpc\": \"2.0\", \"id\": 4, \"result\": {{}}}}\n\
             {{\"jsonrpc\": \"2.0\", \"id\": null, \"method\": \"ping\"}}\n\
             {{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\": \"resources/list\"}}\n\
             {{\"jsonrpc\": \"2.0\", \"id\": 6, \"method\": \"tools/call\", \"params\": [1]}}\n\
             {{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"tools/call\", \"params\": {{\"name\": \"rm\"}}}}\n\
             [{{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": \"ping\"}}, {{\"jsonrpc\": \"2.0\", \"method\": \"x\"}}]\n\
             {{\"jsonrpc\": \"2.0\", \"id\": 8, \"method\": \"ping\"}}"
        );
        let mut codes = Vec::new();
        for answer in answers(lines.as_bytes()) {
            match answer.as_array() {
                Some(all) => {
                    assert_eq!((all.len(), &all[0]["id"]), (1, &json!("a")));
                    codes.push(0);
                }
                None => codes.push(answer["error"]["code"].as_i64().unwrap_or_default()),
            }
        }
        let expected = [
            PARSE_ERROR,
            INVALID_REQUEST,
            INVALID_REQUEST,
            INVALID_REQUEST,
            INVALID_REQUEST,
            INVALID_REQUEST,
            METHOD_NOT_FOUND,
            INVALID_PARAMS,
            INVALID_PARAMS,
            0,
            0,
        ];
        assert_eq!(codes, expected);
    }
}
