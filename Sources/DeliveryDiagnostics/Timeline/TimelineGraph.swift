internal import DeliveryRecording
internal import ThreadedNotifications

/// Draws the lanes of a text timeline, row by row.
struct TimelineGraph {
    private struct Cell {
        var character: Character = " "
        var lane: Int?
    }

    private let timeline: Timeline
    private let pitch: Int
    private let symbols: TimelineSymbols
    /// For each lane: the stages that began its running handlers and waits, by depth; nil if one is not drawn.
    private var running: [[DeliveryStage?]]

    init(_ timeline: Timeline, pitch: Int, symbols: TimelineSymbols) {
        (self.timeline, self.pitch, self.symbols) = (timeline, pitch, symbols)
        running = Array(repeating: [], count: timeline.lanes.count)
        for item in timeline.items where item.begin < timeline.begin { begin(item) }
    }

    private mutating func begin(_ item: Timeline.Item) {
        guard !item.isMark, item.ending != .notRecorded else { return }
        while running[item.lane].count <= item.depth { running[item.lane].append(nil) }
        running[item.lane][item.depth] = item.stage
    }

    private mutating func end(_ item: Timeline.Item) {
        guard running[item.lane].count > item.depth else { return }
        running[item.lane].removeSubrange(item.depth...)
        while running[item.lane].last == .some(nil) { running[item.lane].removeLast() }
    }

    mutating func draw(_ row: Timeline.Row) -> [TimelineText.Span] {
        let item = timeline.items[row.item]
        if row.part == .end { end(item) }
        defer {
            if row.part == .begin { begin(item) }
            if item.stage == .threadEnd { running[item.lane] = [] }
        }
        var cells = lanes(at: timeline.time(of: row))
        let column = column(item.lane, item.depth)
        if row.part != .end, let arrow = item.arrow, arrow.lane != item.lane {
            draw(arrow, to: item.lane, in: &cells, head: column)
        }
        let symbol: TimelineSymbol =
            switch row.part {
            case .begin: item.stage == .wait ? .waitBegins : .handlerBegins
            case .end: item.stage == .wait ? .waitEnds : .handlerEnds
            case .whole: .mark(of: item.stage)
            }
        cells[column] = Cell(character: symbols[symbol], lane: item.lane)
        return spans(cells)
    }

    /// A row for a long time without events.
    func later(at time: Int64) -> [TimelineText.Span] {
        spans(
            lanes(at: time).map {
                Cell(character: $0.character == symbols[.lane] ? symbols[.later] : $0.character, lane: $0.lane)
            })
    }

    private func lanes(at time: Int64) -> [Cell] {
        var cells = [Cell](repeating: Cell(), count: timeline.lanes.count * pitch)
        for (lane, life) in timeline.lanes.enumerated() {
            // A process may end while its threads are in handlers.
            guard life.begin <= time, time <= life.end else { continue }
            cells[lane * pitch] = Cell(character: symbols[.lane], lane: lane)
            for case (let depth, let stage?) in running[lane].enumerated() {
                let symbol = stage == .wait ? TimelineSymbol.wait : .handler
                cells[column(lane, depth)] = Cell(character: symbols[symbol], lane: lane)
            }
        }
        return cells
    }

    /// Deep items are drawn at the edge of their lane.
    private func column(_ lane: Int, _ depth: Int) -> Int { lane * pitch + min(depth, pitch - 2) }

    /// Draws a line from the lane of the post across the lanes between.
    private func draw(_ arrow: Timeline.Arrow, to lane: Int, in cells: inout [Cell], head: Int) {
        let isRightward = arrow.lane < lane
        let depth = max(0, running[arrow.lane].count - 1)
        let start = column(arrow.lane, isRightward ? depth : 0)
        let end = isRightward ? lane * pitch - 1 : head + 1
        let (leaves, handlerLeaves): (TimelineSymbol, TimelineSymbol) =
            isRightward ? (.leavesRight, .handlerLeavesRight) : (.leavesLeft, .handlerLeavesLeft)
        for column in isRightward ? start...max(start, end) : end...max(start, end) {
            switch cells[column].character {
            case symbols[.lane]: cells[column].character = symbols[column == start ? leaves : .crossing]
            case symbols[.handler]:
                cells[column].character = symbols[column == start ? handlerLeaves : .handlerCrossing]
            case " ":
                cells[column] = Cell(character: symbols[arrow.kind == .lost ? .lostLine : .line], lane: arrow.lane)
            default: break
            }
        }
        cells[end] = Cell(character: symbols[isRightward ? .rightHead : .leftHead], lane: arrow.lane)
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
