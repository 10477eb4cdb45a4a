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
    /// For each lane: the kinds of running slices, by depth; nil at depths that are not drawn.
    private var running: [[Timeline.Slice.Kind?]]

    init(_ timeline: Timeline, pitch: Int, symbols: TimelineSymbols) {
        self.timeline = timeline
        self.pitch = pitch
        self.symbols = symbols
        running = Array(repeating: [], count: timeline.lanes.count)
        for slice in timeline.slices where slice.begin < timeline.begin { begin(slice) }
    }

    private mutating func begin(_ slice: Timeline.Slice) {
        guard slice.ending != .isNotRecorded else { return }
        while running[slice.lane].count <= slice.depth { running[slice.lane].append(nil) }
        running[slice.lane][slice.depth] = slice.kind
    }

    private mutating func end(_ slice: Timeline.Slice) {
        guard running[slice.lane].count > slice.depth else { return }
        running[slice.lane].removeSubrange(slice.depth...)
        while running[slice.lane].last == .some(nil) { running[slice.lane].removeLast() }
    }

    mutating func draw(_ row: Timeline.Row) -> [TimelineText.Span] {
        let time = timeline.time(of: row)
        let cells: [Cell]
        switch row {
        case .mark(let index):
            let mark = timeline.marks[index]
            cells = drawn(symbols.mark(of: mark.stage), in: mark.lane, depth: mark.depth, arrow: mark.arrow, at: time)
        case .run(let index):
            let run = timeline.runs[index]
            let symbol = run.stage == .deliver ? symbols.handlerLasts : symbols.mark(of: run.stage)
            cells = drawn(symbol, in: run.lane, depth: run.depth, arrow: run.arrow, at: time)
        case .begins(let index):
            let slice = timeline.slices[index]
            let symbol =
                slice.kind == .wait
                ? symbols.waitBegins : slice.ending == .isNotRecorded ? symbols.handlerLasts : symbols.handlerBegins
            cells = drawn(symbol, in: slice.lane, depth: slice.depth, arrow: slice.arrow, at: time)
            begin(slice)
        case .lasts(let index):
            let slice = timeline.slices[index]
            let symbol = slice.kind == .wait ? symbols.wait : symbols.handlerLasts
            cells = drawn(symbol, in: slice.lane, depth: slice.depth, arrow: slice.arrow, at: time)
        case .ends(let index):
            let slice = timeline.slices[index]
            end(slice)
            let symbol = slice.kind == .wait ? symbols.waitEnds : symbols.handlerEnds
            cells = drawn(symbol, in: slice.lane, depth: slice.depth, arrow: nil, at: time)
        }
        return spans(cells)
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

    /// Deep slices are drawn at the edge of their lane.
    private func column(_ lane: Int, _ depth: Int) -> Int { lane * pitch + min(depth, pitch - 2) }

    private func drawn(_ symbol: Character, in lane: Int, depth: Int, arrow: Int?, at time: Int64) -> [Cell] {
        var cells = lanes(at: time)
        let column = column(lane, depth)
        if let arrow = arrow.map({ timeline.arrows[$0] }), arrow.fromLane != lane {
            draw(arrow, to: lane, in: &cells, head: column)
        }
        cells[column] = Cell(character: symbol, lane: lane)
        return cells
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
