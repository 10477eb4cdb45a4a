internal import DeliveryRecording
internal import TerminalText

/// Draws a timeline as text: time runs downwards, with a column for each thread, a row for each event, and a
/// description to the right.
///
/// No line is longer than `width`. Long descriptions are shortened.
package struct TimelineText: Sendable {
    /// A part of a line. A part that belongs to a lane may be colored.
    package struct Span: Sendable {
        package var text: String
        package var lane: Int?
    }

    private let timeline: Timeline
    private let width: Int
    private let timeUnit: (name: String, nanoseconds: Int64)
    private let timeWidth: Int
    /// The width of a lane.
    private let pitch: Int
    /// The widths of the columns to the right of the lanes, except for the description.
    private let columns: [Int]

    /// Nothing is readable below this width.
    package static let minimumWidth = 40
    private static let minimumPitch = 3
    private static let heading = ["what", "post", "latency", "lasts", ""]

    /// The number of lanes for which a width has space.
    package static func maximumLanes(width: Int) -> Int { max(2, (width / 2 - 10) / minimumPitch) }

    package init(_ timeline: Timeline, width: Int) {
        (self.timeline, self.width) = (timeline, max(Self.minimumWidth, width))
        timeUnit = timeline.end < 100_000_000_000 ? ("ms", 1_000_000) : ("s", 1_000_000_000)
        timeWidth = max(ElapsedTime.decimal(timeline.end, per: timeUnit.nanoseconds, decimals: 3).count, 2)
        columns = timeline.rows.reduce(Self.heading.dropLast().map(\.count)) { widths, row in
            zip(widths, timeline.texts(of: row)).map { max($0, DisplayWidth.of($1)) }
        }
        let title = timeline.lanes.map { DisplayWidth.of($0.title) + 2 }.max() ?? 0
        // Lanes are not widened if descriptions would become too short to tell names apart.
        let room = self.width - columns.reduce(timeWidth + 22) { $0 + $1 + 1 }
        pitch = max(Self.minimumPitch, min(title, 14, room / max(1, timeline.lanes.count)))
    }

    // MARK: Lines

    /// Produces the lines one by one, from top to bottom, without keeping them in memory.
    ///
    /// - Parameter progress: called from time to time with the number of rows drawn.
    package func forEachLine(progress: (Int) -> Void = { _ in }, _ take: ([Span]) throws -> Void) rethrows {
        func print(_ time: String, _ graph: [Span], _ words: [Span]) throws {
            var line = [Span(text: DisplayWidth.pad(time, to: timeWidth, alignment: .trailing) + "  ")] + graph + words
            while var last = line.popLast() {
                while last.text.last == " " { last.text.removeLast() }
                if last.text.isEmpty { continue }
                line.append(last)
                break
            }
            try take(line)
        }
        func printWrapped(_ texts: [String]) throws {
            for text in texts.flatMap({ WrappedText.lines(safe($0), width: width, hanging: 2) }) {
                try take([Span(text: text)])
            }
        }
        let titles = timeline.lanes.map { safe($0.title) }
        let fits = titles.allSatisfy { DisplayWidth.of($0) < pitch }
        let names = titles.enumerated().map { lane, title in
            Span(text: DisplayWidth.pad(DisplayWidth.fit(title, to: pitch - 1), to: pitch), lane: lane)
        }
        let rows = "\(counted(timeline.rows.count, "row")): \(timeline.recording.source)"
        try printWrapped(["\(timeline.size), \(rows)"] + timeline.overview)
        if !fits { try printWrapped(["Threads: \(titles.joined(separator: ", "))."]) }
        try take([])
        try print(timeUnit.name, names, words(Self.heading, nil))
        var graph = TimelineGraph(timeline, pitch: pitch)
        for (number, row) in timeline.rows.enumerated() {
            if number % 1000 == 999 { progress(number) }
            if let pause = timeline.pause(before: number) {
                let before = number > 0 ? timeline.time(of: timeline.rows[number - 1]) : timeline.begin
                try print("", graph.later(at: before), [Span(text: pause)])
            }
            try print(
                ElapsedTime.decimal(timeline.time(of: row), per: timeUnit.nanoseconds, decimals: 3), graph.draw(row),
                words(timeline.texts(of: row), timeline.items[row.item].lane))
        }
        try printWrapped(timeline.notes.isEmpty ? [] : [""] + timeline.notes)
    }

    /// The texts of a row, in columns if there is space for them.
    private func words(_ texts: [String], _ lane: Int?) -> [Span] {
        let room = max(0, width - timeWidth - 2 - timeline.lanes.count * pitch)
        let cells = zip(texts, columns).enumerated().map { column, cell in
            // Times are aligned to the right.
            DisplayWidth.pad(cell.0, to: cell.1, alignment: column >= 2 ? .trailing : .leading)
        }
        let description = safe(texts[4])
        var words = cells.joined(separator: " ") + "  " + description
        if DisplayWidth.of(words) > room {
            let filled = (texts[1...3] + [description]).filter { !$0.isEmpty }
            words = cells[0] + " " + filled.joined(separator: "  ")
        }
        words = DisplayWidth.fit(words, to: room)
        let what = words.prefix(columns[0])
        return [Span(text: String(what), lane: lane), Span(text: String(words.dropFirst(what.count)))]
    }

    /// Makes foreign text safe to print.
    private func safe(_ text: String) -> String { Excerpt.of(text, length: 400) }
}
