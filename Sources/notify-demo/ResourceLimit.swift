import Glibc

/// Limits of this process, for a child process that may crash or use too much memory.
enum ResourceLimit {
    static func disableCoreDumps() { set(RLIMIT_CORE, 0) }

    static func limitMemory(bytes: rlim_t) { set(RLIMIT_DATA, bytes) }

    private static func set(_ resource: __rlimit_resource, _ value: rlim_t) {
        var limit = rlimit(rlim_cur: value, rlim_max: value)
        setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
    }
}
