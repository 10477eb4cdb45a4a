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
        self.timeline = timeline
        self.pitch = pitch
        self.symbols = symbols
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
        defer { if row.part == .begin { begin(item) } }
        var cells = lanes(at: timeline.time(of: row))
        let column = column(item.lane, item.depth)
        if row.part != .end, let arrow = item.arrow.map({ timeline.arrows[$0] }), arrow.fromLane != item.lane {
            draw(arrow, to: item.lane, in: &cells, head: column)
        }
        cells[column] = Cell(character: symbols[symbol(of: row.part, of: item)], lane: item.lane)
        return spans(cells)
    }

    private func symbol(of part: Timeline.Row.Part, of item: Timeline.Item) -> TimelineSymbol {
        switch part {
        case .begin: item.stage == .wait ? .waitBegins : .handlerBegins
        case .end: item.stage == .wait ? .waitEnds : .handlerEnds
        case .whole: .mark(of: item.stage)
        }
    }

    /// A row for a long time without events.
    func later(at time: Int64) -> [TimelineText.Span] {
        spans(
            lanes(at: time).map { cell in
                let isLane = cell.character == symbols[.lane]
                return isLane ? Cell(character: symbols[.later], lane: cell.lane) : cell
            })
    }

    private func lanes(at time: Int64) -> [Cell] {
        var cells = [Cell](repeating: Cell(), count: timeline.lanes.count * pitch)
        for (lane, life) in timeline.lanes.enumerated() {
            if life.begin <= time, time <= life.end {
                cells[lane * pitch] = Cell(character: symbols[.lane], lane: lane)
            }
            for (depth, stage) in running[lane].enumerated() {
                guard let stage else { continue }
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
        let isRightward = arrow.fromLane < lane
        let depth = max(0, running[arrow.fromLane].count - 1)
        let start = column(arrow.fromLane, isRightward ? depth : 0)
        let end = isRightward ? lane * pitch - 1 : head + 1
        let (leaves, handlerLeaves): (TimelineSymbol, TimelineSymbol) =
            isRightward ? (.leavesRight, .handlerLeavesRight) : (.leavesLeft, .handlerLeavesLeft)
        for column in isRightward ? start...max(start, end) : end...max(start, end) {
            switch cells[column].character {
            case symbols[.lane]: cells[column].character = symbols[column == start ? leaves : .crossing]
            case symbols[.handler]:
                cells[column].character = symbols[column == start ? handlerLeaves : .handlerCrossing]
            case " ":
                let line = symbols[arrow.kind == .lost ? .lostLine : .line]
                cells[column] = Cell(character: line, lane: arrow.fromLane)
            default: break
            }
        }
        cells[end] = Cell(character: symbols[isRightward ? .rightHead : .leftHead], lane: arrow.fromLane)
    }

    private func spans(_ cells: [Cell]) -> [TimelineText.Span] {
        var spans: [TimelineText.Span] = []
        for cell in cells {
            if let last = spans.last, last.lane == cell.lane || cell.character == " " {
                spans[spans.count - 1].text.append(cell.character)
            } else {
                spans.append(TimelineText.Span(text: String(cell.character), lane: cell.lane))
            }
        }
        return spans
    }
}
