/// The size of a cache line. Fields before it and after it are in different cache lines, so that two processors can
/// write them at the same time.
struct CachePadding {
    private let bytes: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
}
