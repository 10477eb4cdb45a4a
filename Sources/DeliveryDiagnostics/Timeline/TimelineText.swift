internal import DeliveryRecording
internal import TerminalText

/// Draws a timeline as text: time runs downwards, with a column for each thread, a row for each event, and a
/// description to the right.
///
/// No line is longer than `width`. Long descriptions are shortened, and lanes that do not fit share one.
package struct TimelineText: Sendable {
    /// A part of a line. A part that belongs to a lane may be colored.
    package struct Span: Sendable {
        package var text: String
        package var lane: Int?
    }

    private let timeline: Timeline
    private let width: Int
    private let symbols: TimelineSymbols
    private let timeWidth: Int
    private let timeUnit: (name: String, nanoseconds: Int64)
    /// The width of a lane.
    private let pitch: Int
    /// The widths of the columns to the right of the lanes, except for the description.
    private let columns: [Int]

    /// Nothing is readable below this width.
    package static let minimumWidth = 40
    private static let minimumPitch = 3
    private static let maximumPitch = 14
    /// Lanes are not widened if names would become shorter than this.
    private static let nameWidth = 20
    private static let headings = ["what", "post", "latency", "lasts"]

    package init(_ timeline: Timeline, width: Int, symbols: TimelineSymbols = .unicode) {
        self.width = max(Self.minimumWidth, width)
        self.symbols = symbols
        timeUnit = timeline.end < 100_000_000_000 ? ("ms", 1_000_000) : ("s", 1_000_000_000)
        timeWidth = max(Self.clock(timeline.end, timeUnit.nanoseconds).count, timeUnit.name.count)
        // The description needs more than half of a narrow terminal and less than half of a wide one.
        let room = self.width - timeWidth - 2 - min(self.width * 9 / 20, 64)
        let timeline = timeline.folded(toLanes: max(2, room / Self.minimumPitch))
        var columns = Self.headings.map(\.count)
        for row in timeline.rows {
            for (column, cell) in Self.cells(of: row.part, timeline.items[row.item], in: timeline, symbols).enumerated()
            {
                columns[column] = max(columns[column], DisplayWidth.of(cell))
            }
        }
        let words = columns.reduce(0) { $0 + $1 + 1 } + Self.nameWidth
        let lanes = max(1, timeline.lanes.count)
        let title = timeline.lanes.map { DisplayWidth.of(symbols.text($0.title)) + 2 }.max() ?? 0
        let free = (self.width - timeWidth - 2 - words) / lanes
        pitch = max(Self.minimumPitch, min(title, Self.maximumPitch, room / lanes, free))
        self.timeline = timeline
        self.columns = columns
    }

    // MARK: Lines

    package var text: String {
        var lines: [String] = []
        forEachLine { lines.append($0.map(\.text).joined()) }
        return lines.joined(separator: "\n")
    }

    /// Produces the lines one by one, from top to bottom, without keeping them in memory.
    ///
    /// - Parameter progress: called from time to time with the number of rows drawn.
    package func forEachLine(progress: (Int) -> Void = { _ in }, _ take: ([Span]) throws -> Void) rethrows {
        var graph = TimelineGraph(timeline, pitch: pitch, symbols: symbols)
        let heading = timeline.rows.isEmpty ? [] : [[]] + self.heading
        let head = ([timeline.summary] + timeline.overview).flatMap(wrapped)
        for line in head + heading { try take(Self.trimmed(line)) }
        var last = timeline.begin
        let longGap = max(1_000_000, (timeline.end - timeline.begin) / 5)
        for (index, row) in timeline.rows.enumerated() {
            if index % 1000 == 999 { progress(index) }
            let time = timeline.time(of: row)
            if time - last >= longGap, timeline.rows.count > 2 {
                let words = "\(ElapsedTime(nanoseconds: time - last)) later"
                try take(Self.trimmed(line(time: "", graph: graph.later(at: last), words: words, lane: nil)))
            }
            last = time
            let clock = Self.clock(time, timeUnit.nanoseconds)
            let lane = timeline.items[row.item].lane
            try take(Self.trimmed(line(time: clock, graph: graph.draw(row), words: words(row), lane: lane)))
        }
        let notes = timeline.notes
        let foot = (timeline.rows.count > 40 ? self.heading : []) + (notes.isEmpty ? [] : [[]] + notes.flatMap(wrapped))
        for line in foot { try take(Self.trimmed(line)) }
    }

    private func wrapped(_ text: String) -> [[Span]] {
        WrappedText.lines(symbols.text(text), width: width, hanging: 2).map { [Span(text: $0)] }
    }

    private static func trimmed(_ line: [Span]) -> [Span] {
        var line = line
        while let last = line.popLast() {
            let text = last.text.reversed().drop { $0 == " " }.reversed()
            if !text.isEmpty { return line + [Span(text: String(text), lane: last.lane)] }
        }
        return []
    }

    private func line(time: String, graph: [Span], words: String, lane: Int?) -> [Span] {
        let fitting = DisplayWidth.fit(words, to: wordsWidth, ellipsis: symbols.ellipsis)
        let what = fitting.prefix(lane == nil ? 0 : columns[0])
        return [Span(text: DisplayWidth.pad(time, to: timeWidth, alignment: .trailing) + "  ")] + graph + [
            Span(text: String(what), lane: lane), Span(text: String(fitting.dropFirst(what.count))),
        ]
    }

    private var wordsWidth: Int { max(0, width - timeWidth - 2 - timeline.lanes.count * pitch) }

    private static func clock(_ time: Int64, _ unit: Int64) -> String {
        ElapsedTime.decimal(time, per: unit, decimals: 3, keepsZeros: true)
    }

    /// The names of the lanes: in one line if they fit, else one per line in steps.
    private var heading: [[Span]] {
        let titles = timeline.lanes.map { symbols.text($0.title) }
        func heading(_ lanes: [Span]) -> [Span] {
            line(time: timeUnit.name, graph: lanes, words: columned(Self.headings), lane: nil)
        }
        if titles.allSatisfy({ DisplayWidth.of($0) < pitch }) {
            return [heading(titles.enumerated().map { Span(text: DisplayWidth.pad($1, to: pitch), lane: $0) })]
        }
        func stair(_ lanes: Int) -> [Span] {
            (0..<lanes).map { Span(text: DisplayWidth.pad(String(symbols[.lane]), to: pitch), lane: $0) }
        }
        let left = timeWidth + 2
        return titles.enumerated().map { step, title in
            let fitting = DisplayWidth.fit(title, to: width - left - step * pitch, ellipsis: symbols.ellipsis)
            return [Span(text: String(repeating: " ", count: left))] + stair(step) + [Span(text: fitting, lane: step)]
        } + [heading(stair(titles.count))]
    }

    // MARK: Words

    /// The columns of a row: event, post, latency and duration.
    static func cells(
        of part: Timeline.Row.Part, _ item: Timeline.Item, in timeline: Timeline, _ symbols: TimelineSymbols
    ) -> [String] {
        let label = timeline.label(of: item)
        var cells = [label.what, label.post ?? "", "", ""]
        let latency = item.arrow?.longest.description ?? ""
        if item.isRun {
            cells[0] += " ×\(item.count)"
            cells[1] = timeline.posts(of: item) ?? ""
            cells[2] = latency.isEmpty ? "" : "≤\(latency)"
            cells[3] = item.end > item.begin ? item.duration.description : ""
        } else {
            cells[2] = item.arrow?.kind == .atOnce ? "at once" : latency
            cells[3] = item.ending == .returned ? item.duration.description : timeline.lengthOfPost(item) ?? ""
        }
        switch part {
        case .begin: cells[3] = item.runsOn ? "runs on" : ""
        case .end: (cells[0], cells[2]) = (item.stage == .wait ? "waitEnd" : "return", "")
        case .whole: break
        }
        return cells.map(symbols.text)
    }

    private func words(_ row: Timeline.Row) -> String {
        let item = timeline.items[row.item]
        var label = timeline.label(of: item)
        // The members of a run have different details, and the end of a handler needs none.
        if item.isRun || row.part == .end { (label.details, label.location) = ([], nil) }
        let whole = label.description(room: .max, symbols)
        let cells = Self.cells(of: row.part, item, in: timeline, symbols)
        // A row without post and duration leaves their columns to the description if it needs the space.
        let filled = columned(Array(cells.prefix((cells.lastIndex { !$0.isEmpty } ?? 0) + 1)))
        let aligned = cells.dropFirst().allSatisfy(\.isEmpty) ? filled : columned(cells)
        if DisplayWidth.of(aligned + whole) <= wordsWidth { return aligned + whole }
        return filled + label.description(room: wordsWidth - DisplayWidth.of(filled), symbols)
    }

    private func columned(_ cells: [String]) -> String {
        cells.enumerated().reduce("") { words, cell in
            guard columns[cell.offset] > 0 else { return words }
            // Times are aligned to the right.
            let alignment = cell.offset >= 2 ? TextAlignment.trailing : .leading
            return words + DisplayWidth.pad(cell.element, to: columns[cell.offset], alignment: alignment) + " "
        } + " "
    }
}
