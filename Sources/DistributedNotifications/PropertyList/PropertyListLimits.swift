internal import Foundation

/// How much a userInfo may be, whoever made it.
package enum PropertyListLimits {
    /// Bytes on the wire.
    package static let bytes = 60 << 10
    /// Arrays and dictionaries in each other, the userInfo itself being the first. Bounds recursion, so it bounds the stack.
    package static let depth = 64
    /// Values, the userInfo itself and each of an array or dictionary; keys are not counted. Bounds the memory that they take.
    package static let nodes = 16_384
    /// From `Date.distantPast` on, to the end of the year 9999. What formats dates is not made for others, and nobody should
    /// be made to format them by another process.
    package static let dates: Range<Double> =
        Date.distantPast.timeIntervalSinceReferenceDate..<252_423_993_600
}
