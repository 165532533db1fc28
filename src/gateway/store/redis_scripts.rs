//! The steps that Redis must do in one go, in its own language. A record is 8 bytes of version and then its value; every
//! script touches one key, or two of one slot. A script that is run twice by the same caller answers the same.

use redis::Script;

/// All scripts of the backend, parsed once.
pub(super) struct Scripts {
    /// Record, expected version, new version and value, lifetime in ms or -1. Gives 1 done, 0 conflict, -1 gone.
    pub(super) swap: Script,
    /// Record, version, version and value. Gives 1 when it was that version; the lifetime stays.
    pub(super) rewrap: Script,
    /// Set, member, lifetime in ms or -1. The set lives as long as its longest lifetime.
    pub(super) add: Script,
    /// Counter, window in ms, how many. Gives the count and the rest of the window in ms.
    pub(super) count: Script,
    /// Lease and fence, owner, lifetime in ms, lifetime of the fence in ms. Gives the fence, or 0 when it is held.
    pub(super) acquire: Script,
    /// Lease, owner, lifetime in ms. Gives 1 when it was held.
    pub(super) renew: Script,
    /// Lease, owner. Gives 1 when it was held.
    pub(super) release: Script,
}

impl Default for Scripts {
    fn default() -> Self {
        Self {
            swap: Script::new(
                r"
                local have = redis.call('GETRANGE', KEYS[1], 0, 7)
                if have == '' then return -1 end
                if have == string.sub(ARGV[2], 1, 8) then return 1 end
                if have ~= ARGV[1] then return 0 end
                if ARGV[3] == '-1' then redis.call('SET', KEYS[1], ARGV[2])
                elseif ARGV[3] == '0' then redis.call('DEL', KEYS[1])
                else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
                return 1",
            ),
            rewrap: Script::new(
                r"
                if redis.call('GETRANGE', KEYS[1], 0, 7) ~= ARGV[1] then return 0 end
                redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
                return 1",
            ),
            add: Script::new(
                r"
                local left = redis.call('PTTL', KEYS[1])
                redis.call('SADD', KEYS[1], ARGV[1])
                if left == -1 then return 1 end
                if ARGV[2] == '-1' then redis.call('PERSIST', KEYS[1])
                elseif tonumber(ARGV[2]) > left then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
                return 1",
            ),
            count: Script::new(
                r"
                local value = redis.call('INCRBY', KEYS[1], ARGV[2])
                if value == tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
                return { value, redis.call('PTTL', KEYS[1]) }",
            ),
            // By time as well as by count, so that the fence also grows when the last number was lost.
            acquire: Script::new(
                r"
                if redis.call('GET', KEYS[1]) == ARGV[1] then return tonumber(redis.call('GET', KEYS[2]) or '0') end
                if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
                local time = redis.call('TIME')
                local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
                local fence = math.max(now, tonumber(redis.call('GET', KEYS[2]) or '0') + 1)
                redis.call('SET', KEYS[2], string.format('%.0f', fence), 'PX', ARGV[3])
                return fence",
            ),
            renew: Script::new(
                r"
                if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
                return redis.call('PEXPIRE', KEYS[1], ARGV[2])",
            ),
            release: Script::new(
                r"
                if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
                return redis.call('DEL', KEYS[1])",
            ),
        }
    }
}
