internal import ThreadedNotifications

/// The description of a row, fitted to the available space.
///
/// Information that is not visible elsewhere comes first. If the text is too long, first the directory of the source
/// location is dropped, then the middle of the name.
struct TimelineWords {
    private let outcome: String?
    private let name: String?
    private let details: [String]
    private let place: String?
    /// The location without its file.
    private let line: String?
    private let ellipsis: String

    /// Shorter names cannot be told apart.
    private static let leastName = 8

    init(_ label: Timeline.Label, symbols: TimelineSymbols) {
        outcome = label.outcome
        name = label.name.map(symbols.text)
        details = label.details.map(symbols.text)
        place = label.place.map { symbols.text("\($0)") }
        line = label.place.flatMap { $0.line > 0 ? "\(symbols.ellipsis):\($0.line)" : nil }
        ellipsis = symbols.ellipsis
    }

    /// Nil if it does not fit.
    func whole(in room: Int) -> String? {
        let whole = joined(name, place)
        return Columns.width(of: whole) <= room ? whole : nil
    }

    func shortened(to room: Int) -> String {
        let file = place.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
        for place in [place, file, line ?? file] {
            let words = joined(name, place)
            if Columns.width(of: words) <= room { return words }
        }
        for place in line == nil ? [nil] : [line, nil] {
            let nameRoom = room - Columns.width(of: joined("", place))
            if let name, nameRoom >= Self.leastName {
                return joined(Columns.fitMiddle(name, to: nameRoom, ellipsis: ellipsis), place)
            }
        }
        return Columns.fit(joined(name, nil), to: max(0, room), ellipsis: ellipsis)
    }

    private func joined(_ name: String?, _ place: String?) -> String {
        ([outcome, name].compactMap(\.self) + details + [place.map { "at \($0)" }].compactMap(\.self))
            .joined(separator: ", ")
    }
}
