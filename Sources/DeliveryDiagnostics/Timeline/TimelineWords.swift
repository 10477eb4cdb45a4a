internal import ThreadedNotifications

/// The description of a row, fitted to the available space.
///
/// Information that is not visible elsewhere comes first. If the text is too long, first the directory of the source
/// location is dropped, then the middle of the name.
struct TimelineWords {
    private let outcome: [String]
    private let name: String?
    private let details: [String]
    private let location: String?
    /// The location without its directory, and without its file.
    private let file: String?
    private let line: String?
    private let ellipsis: String

    /// Shorter names cannot be told apart.
    private static let minimumNameWidth = 8

    init(_ label: TimelineLabel, symbols: TimelineSymbols) {
        outcome = [label.outcome].compactMap(\.self)
        name = label.name.map(symbols.text)
        details = label.details.map(symbols.text)
        location = label.location.map { symbols.text("\($0)") }
        file = location.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
        line = label.location.flatMap { $0.line > 0 ? "\(symbols.ellipsis):\($0.line)" : nil }
        ellipsis = symbols.ellipsis
    }

    /// Nothing is shortened.
    var whole: String { joined(name, location) }

    func shortened(to room: Int) -> String {
        let fitting = [location, file, line ?? file].lazy.map { joined(name, $0) }.first { DisplayWidth.of($0) <= room }
        if let fitting { return fitting }
        for location in line == nil ? [nil] : [line, nil] {
            let nameRoom = room - DisplayWidth.of(joined("", location))
            if let name, nameRoom >= Self.minimumNameWidth {
                return joined(DisplayWidth.fitMiddle(name, to: nameRoom, ellipsis: ellipsis), location)
            }
        }
        return DisplayWidth.fit(joined(name, nil), to: max(0, room), ellipsis: ellipsis)
    }

    private func joined(_ name: String?, _ location: String?) -> String {
        (outcome + [name].compactMap(\.self) + details + [location.map { "at \($0)" }].compactMap(\.self))
            .joined(separator: ", ")
    }
}
