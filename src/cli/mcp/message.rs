//! Messages of JSON-RPC 2.0: requests, notifications, results, refusals.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

/// The line is not JSON.
pub(super) const PARSE_ERROR: i64 = -32700;
/// The message is not a request.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// No method has this name.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are not those of the method.
pub(super) const INVALID_PARAMS: i64 = -32602;

/// A request that is answered.
pub(super) struct Call<'m> {
    pub(super) id: &'m Value,
    pub(super) method: &'m str,
    /// None where they are not an object.
    pub(super) params: Option<&'m Map<String, Value>>,
}

/// Why a request is not answered with a result.
#[derive(Debug)]
pub(super) struct Refusal {
    code: i64,
    message: String,
}

impl Refusal {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Parameters of a request that has none.
static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

impl<'m> Call<'m> {
    /// The request in a message; none where it is a notification, or an answer that nothing waits for.
    pub(super) fn of(message: &'m Value) -> Result<Option<Self>, Refusal> {
        let invalid = |text: &str| Err(Refusal::new(INVALID_REQUEST, text));
        let Some(keys) = message.as_object() else { return invalid("a message is an object") };
        if keys.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid("jsonrpc must be \"2.0\"");
        }
        let is_answer = keys.contains_key("result") || keys.contains_key("error");
        let Some(method) = keys.get("method").and_then(Value::as_str) else {
            return if is_answer { Ok(None) } else { invalid("method is missing") };
        };
        let id = match keys.get("id") {
            None => return Ok(None),
            Some(id) if id.is_string() || id.is_i64() || id.is_u64() => id,
            Some(_) => return invalid("id must be a string or an integer"),
        };
        let params = match keys.get("params") {
            None | Some(Value::Null) => &NONE,
            Some(Value::Object(params)) => params,
            // Lists of parameters are allowed by JSON-RPC, and no method here has one.
            Some(_) => return Ok(Some(Self { id, method, params: None })),
        };
        Ok(Some(Self { id, method, params: Some(params) }))
    }
}

/// The answer with a result.
pub(super) fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The answer without a result.
pub(super) fn refused(id: &Value, Refusal { code, message }: &Refusal) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}
