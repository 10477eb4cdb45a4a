/// Who sends what is enqueued at random: those with equal numbers are the same.
enum RandomSender {
    /// All with the same hash.
    private struct Value: Hashable {
        var number: Int
        func hash(into hasher: inout Hasher) {}
    }

    private struct Incomparable {}

    private final class Object: Sendable {}

    private static let object = Object()

    static let numbers: [Int?] = [0, 1, 2, 3, 4, nil]

    /// - Parameter number: nil for one that is the same as none.
    static func object(_ number: Int?) -> Any? {
        switch number {
        case 0: nil
        case 1: object
        case 2: Value(number: 1)
        case 3: Value(number: 2)
        case 4: "text"
        default: Incomparable()
        }
    }
}
