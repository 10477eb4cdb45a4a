/// A random sender. Senders with equal numbers are equal.
enum RandomSender {
    /// All have the same hash.
    private struct Value: Hashable {
        var number: Int
        func hash(into hasher: inout Hasher) {}
    }

    private struct Incomparable {}

    private final class Object: Sendable {}

    private static let objects = [Object(), Object()]

    static let numbers: [Int?] = [0, 1, 2, 3, 4, 5, nil]

    /// - Parameter number: nil for a sender that is equal to none.
    static func object(_ number: Int?) -> Any? {
        switch number {
        case 0: nil
        case 1: objects[0]
        case 2: objects[1]
        case 3: Value(number: 1)
        case 4: Value(number: 2)
        case 5: "text"
        default: Incomparable()
        }
    }
}
