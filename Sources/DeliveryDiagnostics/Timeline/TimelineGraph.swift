internal import DeliveryRecording

/// Draws the lanes of a text timeline, row by row.
struct TimelineGraph {
    private typealias Cell = (character: Character, lane: Int?)

    private let timeline: Timeline
    private let pitch: Int
    /// For each lane: the lines of its running handlers and waits, by depth.
    private var running: [[Int: Character]]

    init(_ timeline: Timeline, pitch: Int) {
        (self.timeline, self.pitch) = (timeline, pitch)
        running = Array(repeating: [:], count: timeline.lanes.count)
        for item in timeline.items where item.begin < timeline.begin { begin(item) }
    }

    private mutating func begin(_ item: Timeline.Item) {
        if item.lasts { running[item.lane][item.depth] = item.stage == .wait ? "┊" : "┃" }
    }

    mutating func draw(_ row: Timeline.Row) -> [TimelineText.Span] {
        let item = timeline.items[row.item]
        if row.part == .end { running[item.lane] = running[item.lane].filter { $0.key < item.depth } }
        defer {
            if row.part == .begin { begin(item) }
            if item.stage == .threadEnd { running[item.lane] = [:] }
        }
        var cells = lanes(at: timeline.time(of: row))
        let column = column(item.lane, item.depth)
        if row.part != .end, let arrow = item.arrow, arrow.lane != item.lane {
            draw(arrow, to: item.lane, in: &cells, head: column)
        }
        let character: Character =
            switch row.part {
            case .begin: item.stage == .wait ? "┬" : "┏"
            case .end: item.stage == .wait ? "┴" : "┗"
            case .whole: TimelineMark(item.stage).character
            }
        cells[column] = (character, item.lane)
        return spans(cells)
    }

    /// A row for a long time without events.
    func later(at time: Int64) -> [TimelineText.Span] {
        spans(lanes(at: time).map { ($0.character == "│" ? "┆" : $0.character, $0.lane) })
    }

    private func lanes(at time: Int64) -> [Cell] {
        var cells = [Cell](repeating: (" ", nil), count: timeline.lanes.count * pitch)
        for (lane, life) in timeline.lanes.enumerated() where life.begin <= time && time <= life.end {
            // A process may end while its threads are in handlers.
            cells[lane * pitch] = ("│", lane)
            for (depth, line) in running[lane] { cells[column(lane, depth)] = (line, lane) }
        }
        return cells
    }

    /// Deep items are drawn at the edge of their lane.
    private func column(_ lane: Int, _ depth: Int) -> Int { lane * pitch + min(depth, pitch - 2) }

    /// Draws a line from the lane of the post across the lanes between.
    private func draw(_ arrow: Timeline.Arrow, to lane: Int, in cells: inout [Cell], head: Int) {
        let isRightward = arrow.lane < lane
        let start = column(arrow.lane, isRightward ? running[arrow.lane].keys.max() ?? 0 : 0)
        let end = isRightward ? lane * pitch - 1 : head + 1
        for column in min(start, end)...max(start, end) {
            let isStart = column == start
            switch cells[column].character {
            case "│": cells[column].character = !isStart ? "┼" : isRightward ? "├" : "┤"
            case "┃": cells[column].character = !isStart ? "╂" : isRightward ? "┠" : "┨"
            case " ": cells[column] = (arrow.kind == .lost ? "╌" : "─", arrow.lane)
            default: break
            }
        }
        cells[end] = (isRightward ? "▶" : "◀", arrow.lane)
    }

    private func spans(_ cells: [Cell]) -> [TimelineText.Span] {
        cells.reduce(into: []) { spans, cell in
            if let last = spans.last, last.lane == cell.lane || cell.character == " " {
                spans[spans.count - 1].text.append(cell.character)
            } else {
                spans.append(TimelineText.Span(text: String(cell.character), lane: cell.lane))
            }
        }
    }
}
