/// Draws a timeline as text: time runs downwards, with a column for each thread, a row for each event, and a
/// description to the right.
///
/// No line is longer than `width`. Long descriptions are shortened, and lanes that do not fit share one.
package struct TimelineText: Sendable {
    /// A part of a line. A part that belongs to a lane may be colored.
    package struct Span: Sendable, Hashable {
        package var text: String
        package var lane: Int?
    }

    private let timeline: Timeline
    private let width: Int
    private let symbols: TimelineSymbols
    private let timeWidth: Int
    private let timeUnit: (name: String, nanoseconds: Int64, decimals: Int)
    private let pitch: Int
    private let columns: [Int]

    /// Nothing is readable below this width.
    package static let minimumWidth = 40
    private static let minimumPitch = 3
    private static let maximumPitch = 14
    /// Lanes are not widened if names would become shorter than this.
    private static let nameWidth = 20
    private static let headings = ["what", "post", "latency", "lasts"]

    package init(_ timeline: Timeline, width: Int, symbols: TimelineSymbols = .unicode) {
        let width = max(Self.minimumWidth, width)
        let unit = Self.unit(for: timeline.end)
        let last = ElapsedTime.decimal(
            timeline.end, per: unit.nanoseconds, decimals: unit.decimals, keepsZeros: true)
        let timeWidth = max(last.count, unit.name.count)
        // The description needs more than half of a narrow terminal and less than half of a wide one.
        let room = width - timeWidth - 2 - min(width * 9 / 20, 64)
        let timeline = timeline.folded(toLanes: max(2, room / Self.minimumPitch))
        let columns = Self.columns(of: timeline, symbols: symbols)
        let words = columns.reduce(0) { $0 + $1 + 1 } + Self.nameWidth
        let lanes = max(1, timeline.lanes.count)
        let title = timeline.lanes.map { DisplayWidth.of(symbols.text($0.title)) + 2 }.max() ?? 0
        pitch = max(
            Self.minimumPitch, min(title, Self.maximumPitch, room / lanes, (width - timeWidth - 2 - words) / lanes))
        self.timeline = timeline
        self.width = width
        self.symbols = symbols
        self.timeWidth = timeWidth
        self.columns = columns
        timeUnit = unit
    }

    /// Milliseconds with three decimals up to 100 seconds, then seconds.
    private static func unit(for end: Int64) -> (name: String, nanoseconds: Int64, decimals: Int) {
        end < 100_000_000_000 ? ("ms", 1_000_000, 3) : ("s", 1_000_000_000, 3)
    }

    // MARK: Lines

    /// All lines, from top to bottom.
    package var lines: [[Span]] {
        var lines: [[Span]] = []
        forEachLine { lines.append($0) }
        return lines
    }

    /// Produces the lines one by one, without keeping them in memory.
    ///
    /// - Parameter progress: called from time to time with the number of rows drawn.
    package func forEachLine<Failure: Error>(
        progress: (Int) -> Void = { _ in }, _ take: ([Span]) throws(Failure) -> Void
    ) throws(Failure) {
        var graph = TimelineGraph(timeline, pitch: pitch, symbols: symbols)
        let heading = timeline.rows.isEmpty ? [] : [[]] + self.heading
        for line in wrapped(summary) + heading { try take(Self.trimmed(line)) }
        var last = timeline.begin
        for (index, row) in timeline.rows.enumerated() {
            if index % 1000 == 999 { progress(index) }
            let time = timeline.time(of: row)
            if isLong(time - last) {
                let words = "\(ElapsedTime(nanoseconds: time - last)) later"
                try take(Self.trimmed(line(time: "", graph: graph.later(at: last), words: words, lane: nil)))
            }
            last = time
            let drawn = line(
                time: clock(time), graph: graph.draw(row), words: words(row), lane: timeline.items[row.item].lane)
            try take(Self.trimmed(drawn))
        }
        let notes = timeline.notes
        let foot = (timeline.rows.count > 40 ? self.heading : []) + (notes.isEmpty ? [] : [[]] + notes.flatMap(wrapped))
        for line in foot { try take(Self.trimmed(line)) }
    }

    private func wrapped(_ text: String) -> [[Span]] {
        WrappedText.lines(symbols.text(text), width: width, hanging: 2).map { [Span(text: $0, lane: nil)] }
    }

    /// Without colors.
    package var text: String {
        lines.map { $0.map(\.text).joined() }.joined(separator: "\n")
    }

    /// Without trailing spaces.
    private static func trimmed(_ line: [Span]) -> [Span] {
        var line = line
        while let last = line.last {
            let text = last.text.reversed().drop { $0 == " " }.reversed()
            if !text.isEmpty {
                line[line.count - 1].text = String(text)
                break
            }
            line.removeLast()
        }
        return line
    }

    private func line(time: String, graph: [Span], words: String, lane: Int?) -> [Span] {
        let padding = String(repeating: " ", count: max(0, timeWidth - time.count))
        let fitting = DisplayWidth.fit(words, to: wordsWidth, ellipsis: symbols.ellipsis)
        let what = fitting.prefix(lane == nil ? 0 : columns[0])
        return [Span(text: padding + time + "  ", lane: nil)] + graph + [
            Span(text: String(what), lane: lane), Span(text: String(fitting.dropFirst(what.count)), lane: nil),
        ]
    }

    /// The space to the right of the lanes.
    private var wordsWidth: Int { max(0, width - timeWidth - 2 - timeline.lanes.count * pitch) }

    private func clock(_ time: Int64) -> String {
        ElapsedTime.decimal(time, per: timeUnit.nanoseconds, decimals: timeUnit.decimals, keepsZeros: true)
    }

    /// True if the time between two rows is long enough to be shown.
    private func isLong(_ gap: Int64) -> Bool {
        timeline.rows.count > 2 && gap >= 1_000_000 && gap >= (timeline.end - timeline.begin) / 5
    }

    private var summary: String {
        let span = ElapsedTime(nanoseconds: timeline.end - timeline.begin)
        let threads = timeline.lanes.reduce(0) { $0 + $1.threads }
        return "\(counted(timeline.rows.count, "row")) of \(counted(timeline.records, "record")), "
            + "\(counted(threads, "thread")), \(span): \(timeline.source)"
    }

    /// The names of the lanes: in one line if they fit, else one per line in steps.
    private var heading: [[Span]] {
        let titles = timeline.lanes.map { symbols.text($0.title) }
        let words = columned(Self.headings)
        if titles.allSatisfy({ DisplayWidth.of($0) < pitch }) {
            let names = titles.enumerated().map { lane, title in
                Span(text: DisplayWidth.pad(title, to: pitch), lane: lane)
            }
            return [line(time: timeUnit.name, graph: names, words: words, lane: nil)]
        }
        let room = width - timeWidth - 2
        return titles.indices.map { step in
            let padding = Span(text: String(repeating: " ", count: timeWidth + 2), lane: nil)
            let title = DisplayWidth.fit(titles[step], to: room - step * pitch, ellipsis: symbols.ellipsis)
            return [padding] + stair(step) + [Span(text: title, lane: step)]
        } + [line(time: timeUnit.name, graph: stair(titles.count), words: words, lane: nil)]
    }

    /// The lines of the first lanes.
    private func stair(_ lanes: Int) -> [Span] {
        (0..<lanes).map { Span(text: DisplayWidth.pad(String(symbols.lane), to: pitch), lane: $0) }
    }

    // MARK: Words

    private static func columns(of timeline: Timeline, symbols: TimelineSymbols) -> [Int] {
        var widths = headings.map(\.count)
        for row in timeline.rows {
            for (column, cell) in cells(of: row, in: timeline, symbols).enumerated() {
                widths[column] = max(widths[column], DisplayWidth.of(cell))
            }
        }
        return widths
    }

    /// The columns of a row: event, post, latency and duration.
    private static func cells(of row: Timeline.Row, in timeline: Timeline, _ symbols: TimelineSymbols) -> [String] {
        let item = timeline.items[row.item]
        var cells = [item.label.what, item.label.post ?? "", "", ""]
        let duration = ElapsedTime(nanoseconds: item.end - item.begin).description
        let latency = item.latency.map { ElapsedTime(nanoseconds: $0.upperBound).description } ?? ""
        if item.isRun {
            cells[0] += " ×\(item.count)"
            if let post = item.label.post, let last = item.lastPost, last != post { cells[1] = "\(post)…\(last)" }
            (cells[2], cells[3]) = (latency.isEmpty ? "" : "≤\(latency)", item.end > item.begin ? duration : "")
        } else {
            cells[2] = item.arrow.map { timeline.arrows[$0].kind } == .atOnce ? "at once" : latency
            if item.kind != .mark, item.ending == .returned { cells[3] = duration }
        }
        switch row {
        case .begins: cells[3] = item.ending == .runsOn ? "runs on" : ""
        case .ends: (cells[0], cells[2]) = (item.kind == .wait ? "waitEnd" : "return", "")
        case .whole: break
        }
        return cells.map { symbols.text($0) }
    }

    private func words(_ row: Timeline.Row) -> String {
        let item = timeline.items[row.item]
        var label = item.label
        var hasDetails = !item.isRun
        if case .ends = row { hasDetails = false }
        // The members of a run have different details, and the end of a handler needs none.
        if !hasDetails { (label.details, label.location) = ([], nil) }
        let words = TimelineWords(label, symbols: symbols)
        let cells = Self.cells(of: row, in: timeline, symbols)
        // A row without post and duration leaves their columns to the description if it needs the space.
        let filled = columned(Array(cells.prefix((cells.lastIndex { !$0.isEmpty } ?? 0) + 1)))
        let aligned = cells.dropFirst().allSatisfy(\.isEmpty) ? filled : columned(cells)
        let room = wordsWidth - DisplayWidth.of(aligned)
        if let whole = words.whole(in: room) { return aligned + whole }
        return filled + words.shortened(to: wordsWidth - DisplayWidth.of(filled))
    }

    private func columned(_ cells: [String]) -> String {
        var words = ""
        for (column, cell) in cells.enumerated() where columns[column] > 0 {
            let padding = String(repeating: " ", count: max(0, columns[column] - DisplayWidth.of(cell)))
            // Times are aligned to the right.
            words += (column >= 2 ? padding + cell : cell + padding) + " "
        }
        return words + " "
    }
}
