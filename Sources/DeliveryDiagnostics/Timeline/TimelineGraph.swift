internal import DeliveryRecording

/// Draws the lanes of a text timeline, row by row.
struct TimelineGraph {
    private struct Cell {
        var character: Character = " "
        var lane: Int?
    }

    private let timeline: Timeline
    private let pitch: Int
    private let symbols: TimelineSymbols
    /// For each lane: the kinds of running handlers and waits, by depth; nil at depths that are not drawn.
    private var running: [[Timeline.Item.Kind?]]

    init(_ timeline: Timeline, pitch: Int, symbols: TimelineSymbols) {
        self.timeline = timeline
        self.pitch = pitch
        self.symbols = symbols
        running = Array(repeating: [], count: timeline.lanes.count)
        for item in timeline.items where item.begin < timeline.begin { begin(item) }
    }

    private mutating func begin(_ item: Timeline.Item) {
        guard item.kind != .mark, item.ending != .isNotRecorded else { return }
        while running[item.lane].count <= item.depth { running[item.lane].append(nil) }
        running[item.lane][item.depth] = item.kind
    }

    private mutating func end(_ item: Timeline.Item) {
        guard running[item.lane].count > item.depth else { return }
        running[item.lane].removeSubrange(item.depth...)
        while running[item.lane].last == .some(nil) { running[item.lane].removeLast() }
    }

    mutating func draw(_ row: Timeline.Row) -> [TimelineText.Span] {
        let item = timeline.items[row.item]
        let isWait = item.kind == .wait
        let symbol: Character
        switch row {
        case .begins: symbol = isWait ? symbols.waitBegins : symbols.handlerBegins
        case .ends: symbol = isWait ? symbols.waitEnds : symbols.handlerEnds
        case .whole:
            symbol = item.kind == .mark ? symbols.mark(of: item.stage) : isWait ? symbols.wait : symbols.handlerLasts
        }
        if case .ends = row { end(item) }
        defer { if case .begins = row { begin(item) } }
        let hasArrow = if case .ends = row { false } else { true }
        return drawn(
            symbol, in: item.lane, depth: item.depth, arrow: hasArrow ? item.arrow : nil, at: timeline.time(of: row))
    }

    /// A row for a long time without events.
    func later(at time: Int64) -> [TimelineText.Span] {
        var cells = lanes(at: time)
        for column in cells.indices where cells[column].character == symbols.lane {
            cells[column].character = symbols.later
        }
        return spans(cells)
    }

    private func lanes(at time: Int64) -> [Cell] {
        var cells = [Cell](repeating: Cell(), count: timeline.lanes.count * pitch)
        for (lane, life) in timeline.lanes.enumerated() {
            if life.begin <= time, time <= life.end { cells[lane * pitch] = Cell(character: symbols.lane, lane: lane) }
            for (depth, kind) in running[lane].enumerated() {
                guard let kind else { continue }
                let character = kind == .wait ? symbols.wait : symbols.handler
                cells[column(lane, depth)] = Cell(character: character, lane: lane)
            }
        }
        return cells
    }

    /// Deep items are drawn at the edge of their lane.
    private func column(_ lane: Int, _ depth: Int) -> Int { lane * pitch + min(depth, pitch - 2) }

    private func drawn(_ symbol: Character, in lane: Int, depth: Int, arrow: Int?, at time: Int64) -> [TimelineText
        .Span]
    {
        var cells = lanes(at: time)
        let column = column(lane, depth)
        if let arrow = arrow.map({ timeline.arrows[$0] }), arrow.fromLane != lane {
            draw(arrow, to: lane, in: &cells, head: column)
        }
        cells[column] = Cell(character: symbol, lane: lane)
        return spans(cells)
    }

    /// Draws a line from the lane of the post across the lanes between.
    private func draw(_ arrow: Timeline.Arrow, to lane: Int, in cells: inout [Cell], head: Int) {
        let isRightward = arrow.fromLane < lane
        let line = arrow.kind == .lost ? symbols.lostLine : symbols.line
        let depth = max(0, running[arrow.fromLane].count - 1)
        let start = column(arrow.fromLane, isRightward ? depth : 0)
        let end = isRightward ? lane * pitch - 1 : head + 1
        for column in isRightward ? start...max(start, end) : end...max(start, end) {
            let crossed = cells[column].character
            let character: Character
            switch crossed {
            case symbols.lane:
                character =
                    column != start ? symbols.crossing : isRightward ? symbols.leavesRight : symbols.leavesLeft
            case symbols.handler:
                character =
                    column != start
                    ? symbols.handlerCrossing : isRightward ? symbols.handlerLeavesRight : symbols.handlerLeavesLeft
            case " ":
                character = line
            default:
                character = crossed
            }
            cells[column] = Cell(character: character, lane: crossed == " " ? arrow.fromLane : cells[column].lane)
        }
        cells[end] = Cell(character: isRightward ? symbols.rightHead : symbols.leftHead, lane: arrow.fromLane)
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
