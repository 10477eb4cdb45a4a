internal import Foundation

/// The numbers of the records of a process that were read. A pure value.
struct ReadNumbers {
    enum Place: Hashable {
        case next
        /// This many records are missing before it.
        case after(missing: Int)
        /// It was missing until now.
        case late
        case repeated
    }

    /// The expected number of the next record; negative if any number is accepted.
    var next = 1
    private var missing = IndexSet()

    mutating func take(_ number: Int) -> Place {
        if next < 0 || number == next {
            next = number &+ 1
            return .next
        }
        guard number > next else { return missing.remove(number) == nil ? .repeated : .late }
        defer { next = number &+ 1 }
        missing.insert(integersIn: next..<number)
        return .after(missing: number - next)
    }
}
