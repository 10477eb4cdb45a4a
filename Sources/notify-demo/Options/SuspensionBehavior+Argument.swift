public import ArgumentParser
public import DistributedNotifications

extension SuspensionBehavior: ExpressibleByArgument {
    /// The name on a command line.
    var commandLineName: String { self == .deliverImmediately ? "deliver-immediately" : rawValue }

    public init?(argument: String) {
        guard let behavior = Self.allCases.first(where: { $0.commandLineName == argument }) else { return nil }
        self = behavior
    }

    public static var allValueStrings: [String] { allCases.map(\.commandLineName) }

    public static var allValueDescriptions: [String: String] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0.commandLineName, $0.explanation) })
    }

    private var explanation: String {
        switch self {
        case .drop: "discards them"
        case .coalesce: "keeps the last of each name and object"
        case .hold: "keeps all, up to its limit"
        case .deliverImmediately: "delivers them at once, after what is kept"
        }
    }

    public var defaultValueDescription: String { commandLineName }
}
