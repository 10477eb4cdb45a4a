internal import Foundation

/// The limits of a userInfo, for posters and observers.
package enum PropertyListLimits {
    /// Bytes on the wire.
    package static let bytes = 60 << 10
    /// The nesting of arrays and dictionaries, including the userInfo itself. It bounds recursion, and so the stack.
    package static let depth = 64
    /// Values, including the userInfo itself and the elements of arrays and dictionaries; keys are not counted. It
    /// bounds the memory of a decoded userInfo.
    package static let nodes = 16_384
    /// Dates, in seconds since 2001: from `Date.distantPast` to the end of the year 9999. Formatters are not made for
    /// other dates, and another process must not be able to cause their use.
    package static let dates: Range<Double> =
        Date.distantPast.timeIntervalSinceReferenceDate..<252_423_993_600
}
