internal import DeliveryRecording
package import TerminalText

/// Draws a timeline as text: time runs downwards, with a column for each thread, a row for each event, and a
/// description to the right.
///
/// No line is longer than `width`, or than 40 columns if it is less. Long descriptions are shortened.
package struct TimelineText: Sendable {
    private typealias Cell = (character: Character, lane: Int?)

    private let timeline: Timeline
    private let width: Int
    private let palette: Palette
    private let timeWidth: Int
    /// The width of a lane.
    private let pitch: Int
    private let titles: [String]
    private var table = Table([.text(), .text(), .number(""), .number(""), .text()], spacing: 1)
    /// The record that is drawn next.
    private var next: Int32 = 0
    /// For each thread: the innermost handler or wait that it is in, -1 for none; nil if the thread has ended.
    private var innermost: [Int32?]

    /// The number of lanes, at least 3 wide, for which a width has space.
    package static func maximumLanes(width: Int) -> Int { max(2, (width / 2 - 10) / 3) }

    package init(_ timeline: Timeline, width: Int, palette: Palette = Palette(isColored: false)) {
        (self.timeline, self.width, self.palette) = (timeline, max(40, width), palette)
        timeWidth = timeline.rows.map { timeline.milliseconds($0).count }.max() ?? 2
        titles = timeline.lanes.map { ShownText.escaped($0.title) }
        let widest = (titles.map(DisplayWidth.of).max() ?? 0) + 2
        // The rest of a line, for times and descriptions, is at least 60 wide if it can be.
        pitch = max(3, min(widest, 14, (self.width - 60) / max(1, titles.count)))
        innermost = Array(repeating: -1, count: timeline.recording.threads.count)
        for row in [Timeline.heading] + timeline.rows.map(timeline.cells) { table.fit(row) }
    }

    /// From top to bottom.
    package var lines: [String] {
        var drawing = self
        let fit = titles.allSatisfy { DisplayWidth.of($0) < pitch }
        let names = titles.enumerated().map { lane, title in
            palette.numbered(DisplayWidth.pad(DisplayWidth.fit(title, to: pitch - 1), to: pitch), lane)
        }
        let heading = wrapped(timeline.overview + (fit ? [] : [timeline.threads])) + [""]
        return heading + [line("ms", names.joined(), Timeline.heading)]
            + timeline.rows.map { line(timeline.milliseconds($0), drawing.lanes($0), timeline.cells(of: $0)) }
            + (timeline.end.map { [""] + wrapped([$0]) } ?? [])
    }

    private func wrapped(_ texts: [String]) -> [String] {
        texts.flatMap { WrappedText.lines(palette.plain($0), width: width, hanging: 2) }
    }

    private func line(_ time: String, _ lanes: String, _ cells: [String]) -> String {
        let room = max(0, width - timeWidth - 2 - titles.count * pitch)
        let words = palette.plain(DisplayWidth.fit(table.line(cells), to: room))
        return DisplayWidth.pad(time, to: timeWidth, alignment: .trailing) + "  " + lanes + words
    }

    // MARK: Lanes

    /// The threads at a row, its mark, and the arrow to it.
    private mutating func lanes(_ row: Timeline.Row) -> String {
        let index = timeline.index
        while next <= row.entry {
            let (entry, span) = (index.entry(next), index.spanOfEntry[Int(next)])
            let isBegin = span >= 0 && index.spans[Int(span)].begin == next
            let inner = span < 0 ? index.spanAroundEntry[Int(next)] : isBegin ? span : index.spans[Int(span)].outer
            innermost[Int(entry.thread)] = entry.stage == .threadEnd ? nil : inner
            next += 1
        }
        var cells = [Cell](repeating: (" ", nil), count: titles.count * pitch)
        for (lane, thread) in timeline.lanes.map(\.thread).enumerated() {
            guard var span = thread < 0 ? -1 : innermost[Int(thread)] else { continue }
            cells[column(lane, 0)] = ("│", lane)
            while span >= 0 {
                let drawn = index.spans[Int(span)]
                if timeline.isDrawn(span) { cells[column(lane, Int(drawn.depth))] = (drawn.isWait ? "┊" : "┃", lane) }
                span = drawn.outer
            }
        }
        let (lane, isWait) = (timeline.lane(row.entry), row.mark == .wait)
        let head = column(lane, row.depth)
        if row.arrow >= 0 { draw(from: timeline.lane(row.arrow), to: lane, row, in: &cells, head: head) }
        let ends: [Character] = isWait ? ["┬", "┴"] : ["┏", "┗"]
        cells[head] = (row.part == .whole ? row.mark.look.character : ends[row.part == .begin ? 0 : 1], lane)
        let runs = cells.reduce(into: [(text: String, lane: Int?)]()) { runs, cell in
            if let last = runs.last, last.lane == cell.lane || cell.character == " " {
                runs[runs.count - 1].text.append(cell.character)
            } else {
                runs.append((String(cell.character), cell.lane))
            }
        }
        return runs.map { run in run.lane.map { palette.numbered(run.text, $0) } ?? run.text }.joined()
    }

    /// Deep items are drawn at the edge of their lane.
    private func column(_ lane: Int, _ depth: Int) -> Int { lane * pitch + min(depth, pitch - 2) }

    /// Draws a line from the lane of the post across the lanes between.
    private func draw(from origin: Int, to lane: Int, _ row: Timeline.Row, in cells: inout [Cell], head: Int) {
        if origin == lane { return }
        let isRightward = origin < lane
        let lines = origin * pitch...origin * pitch + pitch - 1
        let start = isRightward ? lines.last { cells[$0].character != " " } ?? lines.lowerBound : lines.lowerBound
        let end = isRightward ? lane * pitch - 1 : head + 1
        for column in min(start, end)...max(start, end) {
            let isStart = column == start
            switch cells[column].character {
            case "│": cells[column].character = !isStart ? "┼" : isRightward ? "├" : "┤"
            case "┃": cells[column].character = !isStart ? "╂" : isRightward ? "┠" : "┨"
            case " ": cells[column] = (row.mark == .undelivered ? "╌" : "─", origin)
            default: break
            }
        }
        cells[end] = (isRightward ? "▶" : "◀", origin)
    }
}
