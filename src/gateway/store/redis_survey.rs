//! Looks at every record in Redis without keeping it busy: in small steps, on connections of its own, one server after the
//! other where there are several. For commands that people run and for what goes on behind; never part of a request.

use std::collections::BTreeSet;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, Value};

use super::Seen;
use super::key::Parts;
use super::redis::is_no_record;
use super::redis_way::{Layout, RedisSettings, Way};

/// Names that Redis looks at in one step.
const STEP: usize = 500;
/// What is read of a record: its version, and the longest start that an envelope can have.
const START: usize = 72;

/// Shows every name of this shape, and the start of what it holds, to `visit`.
pub(super) async fn survey(
    settings: &RedisSettings,
    shape: char,
    visit: &mut (dyn FnMut(Seen<'_>) + Send),
) -> Result<(), RedisError> {
    let first = Way::new(settings)?.server().await?;
    let mut servers = vec![first.clone()];
    if matches!(settings.layout, Layout::Cluster(_)) {
        let slots: Value = redis::cmd("CLUSTER").arg("SLOTS").query_async(&mut connect(&first, settings).await?).await?;
        servers = masters(&slots).iter().map(|address| Way::beside(settings, address)).collect::<Result<_, _>>()?;
    }
    for server in servers {
        look_at(&mut connect(&server, settings).await?, (&settings.prefix, shape), visit).await?;
    }
    Ok(())
}

async fn connect(server: &Client, settings: &RedisSettings) -> Result<MultiplexedConnection, RedisError> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(settings.connect_timeout))
        .set_response_timeout(Some(settings.response_timeout));
    server.get_multiplexed_async_connection_with_config(&config).await
}

async fn look_at(
    server: &mut MultiplexedConnection,
    (prefix, shape): (&str, char),
    visit: &mut (dyn FnMut(Seen<'_>) + Send),
) -> Result<(), RedisError> {
    let (mut place, pattern) = (0_u64, format!("{}*:{shape}", plain(prefix)));
    loop {
        let mut step = redis::cmd("SCAN");
        step.arg(place).arg("MATCH").arg(&pattern).arg("COUNT").arg(STEP);
        let (next, names): (u64, Vec<String>) = step.query_async(server).await?;
        let mut starts = redis::pipe();
        for name in &names {
            starts.cmd("GETRANGE").arg(name).arg(0).arg(START - 1);
        }
        // One of another type is refused, and is there nevertheless.
        let starts: Vec<Result<Vec<u8>, RedisError>> =
            if names.is_empty() { Vec::new() } else { starts.ignore_errors().query_async(server).await? };
        for (name, start) in names.iter().zip(&starts) {
            let start = match start {
                Ok(start) if start.is_empty() => None,
                Ok(start) => Some(start.get(8..).unwrap_or_default()),
                Err(error) if is_no_record(error.clone()) => Some(&[][..]),
                Err(error) => return Err(error.clone()),
            };
            if let (Some(Parts { tenant, kind, id }), Some(start)) = (Parts::in_redis(name, prefix, shape), start) {
                visit(Seen { tenant, kind, id, start });
            }
        }
        if next == 0 {
            return Ok(());
        }
        place = next;
    }
}

/// A prefix as a pattern that means just this text.
fn plain(prefix: &str) -> String {
    let special = |letter: char| matches!(letter, '*' | '?' | '[' | ']' | '^' | '\\');
    prefix.chars().flat_map(|letter| special(letter).then_some('\\').into_iter().chain([letter])).collect()
}

/// `host:port` of the master of every range of slots.
fn masters(slots: &Value) -> BTreeSet<String> {
    let Value::Array(ranges) = slots else { return BTreeSet::new() };
    let address = |range: &Value| {
        let Value::Array(parts) = range else { return None };
        let Value::Array(master) = parts.get(2)? else { return None };
        let host: String = redis::from_redis_value_ref(master.first()?).ok()?;
        let port: u16 = redis::from_redis_value_ref(master.get(1)?).ok()?;
        Some(format!("{host}:{port}"))
    };
    ranges.iter().filter_map(address).collect()
}
