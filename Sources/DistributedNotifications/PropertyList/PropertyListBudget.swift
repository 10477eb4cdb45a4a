/// What a file may still become, in values and in bytes on the wire.
///
/// A small file can refer to the same value many times: what counts is what it expands to, and it is counted before it is
/// made.
struct PropertyListBudget {
    // The tag of the outermost value is not written.
    private var bytes = PropertyListLimits.bytes + 1
    private var nodes = PropertyListLimits.nodes

    /// Takes what a value costs, its members not included: tag, length if it has one, and so many bytes.
    ///
    /// - Returns: what is wrong if there is not so much left.
    mutating func takeValue(bytes count: Int, isCounted: Bool = false) -> String? {
        nodes -= 1
        guard nodes >= 0 else {
            return "there are more than \(PropertyListLimits.nodes) values, and a userInfo may have no more"
        }
        return take((isCounted ? 3 : 1) + count)
    }

    /// Takes what a key costs.
    mutating func takeKey(bytes count: Int) -> String? { take(2 + count) }

    private mutating func take(_ count: Int) -> String? {
        bytes -= count
        return bytes >= 0
            ? nil
            : "from here on it is more than \(PropertyListLimits.bytes >> 10) KiB, and a userInfo may be no more. "
                + "Post what matters, and the path of this file"
    }

    /// - Parameter depth: of an array or a dictionary, 1 for the outermost.
    static func problem(depth: Int) -> String? {
        depth <= PropertyListLimits.depth
            ? nil : "there are more than \(PropertyListLimits.depth) arrays and dictionaries in each other"
    }
}
