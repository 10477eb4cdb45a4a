internal import DeliveryRecording

/// Draws a timeline as an SVG picture: time runs to the right, with a lane for each thread.
///
/// The picture is one document without scripts or fonts. It follows the viewer's light or dark mode, and its text can
/// be selected. Labels that do not fit are tooltips.
package struct TimelinePicture: Sendable {
    let timeline: Timeline
    let tips: TimelineTips
    let scale: TimelineScale
    let lanes: [LaneFrame]
    let height: Double
    /// The left edge of the lanes, to the right of their names.
    let left: Double

    /// The position of a lane.
    struct LaneFrame {
        var top: Double
        var rows: Int

        /// There is space for labels above the first row.
        func middle(ofRow row: Int) -> Double {
            top + TimelinePicture.labelHeight + (Double(min(row, rows - 1)) + 0.5) * TimelinePicture.rowHeight
        }

        var bottom: Double {
            top + TimelinePicture.labelHeight + Double(rows) * TimelinePicture.rowHeight + TimelinePicture.laneGap
        }
    }

    static let width = 960.0
    static let maximumTitleWidth = 28
    static let right = 28.0
    static let head = 62.0
    static let rowHeight = 18.0
    static let labelHeight = 15.0
    static let laneGap = 13.0
    static let sliceHeight = 13.0
    static let maximumRows = 6
    static let maximumLanes = 24
    /// The approximate width of a character of a label.
    static let characterWidth = 6.3
    static let axisCharacterWidth = 7.2

    package init(_ timeline: Timeline) {
        let timeline = timeline.folded(toLanes: Self.maximumLanes)
        var rows = [Int](repeating: 1, count: timeline.lanes.count)
        for slice in timeline.slices { rows[slice.lane] = max(rows[slice.lane], slice.depth + 1) }
        for mark in timeline.marks { rows[mark.lane] = max(rows[mark.lane], mark.depth + 1) }
        for run in timeline.runs { rows[run.lane] = max(rows[run.lane], run.depth + 1) }
        var lanes: [LaneFrame] = []
        var top = Self.head
        for rows in rows {
            lanes.append(LaneFrame(top: top, rows: min(rows, Self.maximumRows)))
            top = lanes[lanes.count - 1].bottom
        }
        let title = timeline.lanes.map { min(DisplayWidth.of($0.title), Self.maximumTitleWidth) }.max() ?? 0
        let waiting = timeline.lanes.compactMap(Self.waiting).map { Self.textWidth($0) + 30 }.max() ?? 0
        left = max(80, 36 + Double(title) * 7, waiting)
        self.timeline = timeline
        tips = TimelineTips(timeline: timeline)
        self.lanes = lanes
        height = top
        scale = TimelineScale(
            moments: Self.moments(of: timeline), busy: timeline.runs.map { $0.begin...$0.end },
            length: Self.width - left - Self.right)
    }

    static func moments(of timeline: Timeline) -> [Int64] {
        var moments = timeline.slices.flatMap { [$0.begin, $0.end] } + timeline.marks.map(\.time)
        moments += timeline.runs.flatMap { [$0.begin, $0.end] }
        return [timeline.begin, timeline.end] + moments.filter { $0 > timeline.begin && $0 < timeline.end }
    }

    // MARK: Document

    /// The complete document.
    package var svg: String {
        var (shapes, occupied) = (Drawing(), OccupiedBoxes(bounds: bounds))
        draw(into: &shapes, &occupied)
        let legend = Self.legend(of: timeline, hasCuts: !scale.cuts.isEmpty)
        let notes = timeline.notes.flatMap { WrappedText.lines($0, width: 150) }
        let footTop = height + 8
        let (legendShapes, legendLines) = legend.svg(top: footTop + 12, width: Self.width - 24)
        let notesTop = footTop + 16 + Double(legendLines) * TimelinePicture.Legend.lineHeight
        var foot = [legendShapes]
        for (line, note) in notes.enumerated() {
            let y = notesTop + Double(line) * 15
            foot.append("<text class=\"muted\" x=\"16\" y=\"\(number(y))\">\(XMLText.escaped(note))</text>")
        }
        let whole = notesTop - 8 + (notes.isEmpty ? 0 : Double(notes.count) * 15 + 4)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(number(Self.width))" height="\(number(whole))" \
            viewBox="0 0 \(number(Self.width)) \(number(whole))" role="img" aria-labelledby="title description">
            <title id="title">\(XMLText.escaped(title))</title>
            <desc id="description">\(XMLText.escaped(description))</desc>
            <style>\(Self.style)</style>
            <rect class="ground" x="0.5" y="0.5" width="\(number(Self.width - 1))" height="\(number(whole - 1))" rx="6"/>
            <text class="heading" x="16" y="22">\(XMLText.escaped(title))</text>
            \((axis + laneLines + shapes.arrows + shapes.things + gaps + shapes.labels + foot).joined(separator: "\n"))
            </svg>

            """
    }

    var bounds: OccupiedBoxes.Box {
        OccupiedBoxes.Box(left: left, top: Self.head, right: Self.width - 4, bottom: height)
    }

    var title: String {
        let file = timeline.source.split(separator: "/").last.map(String.init) ?? timeline.source
        let threads = timeline.lanes.reduce(0) { $0 + $1.threads }
        return "\(file): \(counted(threads, "thread")), \(ElapsedTime(nanoseconds: timeline.end - timeline.begin)), "
            + "\(counted(timeline.records, "record"))"
    }

    var description: String {
        let posts =
            timeline.marks.count { $0.stage == .post }
            + timeline.runs.reduce(0) { $0 + ($1.stage == .post ? $1.count : 0) }
        let handlers =
            timeline.slices.count { $0.kind == .handler }
            + timeline.runs.reduce(0) { $0 + ($1.stage == .deliver ? $1.count : 0) }
        let slowest = timeline.arrows.filter { $0.kind == .delivery }.map(\.latency)
            .max().map { " The longest time from a post to its handler is \(ElapsedTime(nanoseconds: $0))." }
        return "Time runs to the right. Lanes are threads: \(timeline.lanes.map(\.title).joined(separator: ", ")). "
            + "There are \(counted(posts, "post")) and \(counted(handlers, "handler call")), with an arrow from each "
            + "post to its handlers.\(slowest ?? "")"
    }

    // MARK: Things

    /// In painting order.
    struct Drawing {
        var arrows: [String] = []
        var things: [String] = []
        var labels: [String] = []
    }

    /// A label and its possible positions, the best first.
    struct PendingLabel {
        var rank: Int
        var style: String
        var candidates: [(text: String, x: Double, y: Double, isCentered: Bool)]
        /// The free space to keep around it.
        var margin = 2.0
    }

    func draw(into drawing: inout Drawing, _ occupied: inout OccupiedBoxes) {
        var pendingLabels: [PendingLabel] = []
        for cut in scale.cuts {
            let middle = left + (cut.beginsAt + cut.endsAt) / 2
            occupied.occupy(.init(left: middle - 8, top: 0, right: middle + 8, bottom: height))
        }
        for slice in timeline.slices { draw(slice, &drawing, &occupied, &pendingLabels) }
        for run in timeline.runs { draw(run, &drawing, &occupied, &pendingLabels) }
        for mark in timeline.marks { draw(mark, &drawing, &occupied, &pendingLabels) }
        for pendingLabel in pendingLabels.sorted(by: { $0.rank < $1.rank }) {
            for candidate in pendingLabel.candidates {
                let width = Self.textWidth(candidate.text)
                let left = candidate.isCentered ? candidate.x - width / 2 : candidate.x
                let box = OccupiedBoxes.Box(
                    left: left - pendingLabel.margin, top: candidate.y - 8 - pendingLabel.margin / 2,
                    right: left + width + pendingLabel.margin,
                    bottom: candidate.y + 1 + pendingLabel.margin / 2)
                guard occupied.occupyIfFree(box) else { continue }
                // Lines must not strike through the label.
                drawing.labels.append(
                    "<rect class=\"behind\" x=\"\(number(left - 1))\" y=\"\(number(candidate.y - 9))\" "
                        + "width=\"\(number(width + 2))\" height=\"12\"/>"
                        + "<text class=\"\(pendingLabel.style)\" x=\"\(number(left))\" y=\"\(number(candidate.y))\">"
                        + "\(XMLText.escaped(candidate.text))</text>")
                break
            }
        }
    }

    static func textWidth(_ text: String) -> Double { Double(DisplayWidth.of(text)) * characterWidth }

    func draw(
        _ slice: Timeline.Slice, _ drawing: inout Drawing, _ occupied: inout OccupiedBoxes,
        _ pendingLabels: inout [PendingLabel]
    ) {
        let (left, right) = (x(slice.begin), x(slice.end))
        let runsOn = slice.ending == .runsOn || slice.end > timeline.end
        let length = slice.ending == .returned ? ElapsedTime(nanoseconds: slice.end - slice.begin).description : nil
        let wait = slice.kind == .wait ? "waits" : nil
        let number = slice.label.post ?? wait ?? ""
        let texts = [
            [number, slice.label.name, length], [number, length], [slice.label.post ?? length],
        ].map { $0.compactMap(\.self).joined(separator: " ") }
        drawBox(
            lane: slice.lane, depth: slice.depth, left: left, right: runsOn ? max(right, left + 8) : right,
            style: slice.kind == .wait ? "wait" : runsOn ? "handler open" : "handler",
            tip: tips.text(slice), texts: texts, &drawing, &occupied, &pendingLabels)
        draw(slice.arrow, toRow: slice.depth, tip: tips.text(slice), label: nil, &drawing, &pendingLabels)
    }

    func draw(
        _ run: Timeline.Run, _ drawing: inout Drawing, _ occupied: inout OccupiedBoxes,
        _ pendingLabels: inout [PendingLabel]
    ) {
        let (left, right) = (x(run.begin), x(run.end))
        let posts =
            run.lastPost == run.label.post ? run.label.post : run.label.post.map { "\($0)…\(run.lastPost ?? "")" }
        let what = run.stage == .deliver ? "handlers" : run.label.what
        let outcome = run.label.outcome.map { ", \($0)" } ?? ""
        let texts = [[posts, "\(what) ×\(run.count)\(outcome)"], ["×\(run.count)\(outcome)"], ["×\(run.count)"]].map {
            $0.compactMap(\.self).joined(separator: " ")
        }
        if run.label.waiting > 0 {
            let bottom = lanes[run.lane].middle(ofRow: run.depth) + Self.sliceHeight / 2
            drawing.things.append(Self.stub(x: (left + right) / 2, y: bottom))
        }
        let tip = tips.text(run)
        drawBox(
            lane: run.lane, depth: run.depth, left: left, right: right,
            style: run.stage == .deliver ? "handler run" : "marks run", tip: tip, texts: texts, &drawing, &occupied,
            &pendingLabels)
        draw(
            run.arrow, toRow: run.depth, tip: tip,
            label: run.latency.map { "≤\(ElapsedTime(nanoseconds: $0.upperBound))" },
            &drawing, &pendingLabels)
    }

    func drawBox(
        lane: Int, depth: Int, left: Double, right: Double, style: String, tip: String, texts: [String],
        _ drawing: inout Drawing, _ occupied: inout OccupiedBoxes, _ pendingLabels: inout [PendingLabel]
    ) {
        let middle = lanes[lane].middle(ofRow: depth)
        let (width, top) = (max(3, right - left), middle - Self.sliceHeight / 2)
        let frame =
            "x=\"\(number(left))\" y=\"\(number(top))\" width=\"\(number(width))\" height=\"\(number(Self.sliceHeight))\" rx=\"2\""
        // The background comes first, so that no line strikes through the label.
        drawing.things.append(
            "<rect class=\"under\" \(frame)/><rect class=\"\(style) c\(lane % Self.colors)\" \(frame)>"
                + "<title>\(XMLText.escaped(tip))</title></rect>")
        if let inside = texts.first(where: { Self.textWidth(Self.short($0)) + 6 <= width && !$0.isEmpty }) {
            drawing.labels.append(
                "<text class=\"inside\" x=\"\(number(left + 4))\" y=\"\(number(middle + 4))\">"
                    + "\(XMLText.escaped(Self.short(inside)))</text>")
        } else {
            let candidates = texts.filter { !$0.isEmpty }.map(Self.short).flatMap { text in
                [left + width + 3, left - 6 - Self.textWidth(text)].map {
                    (text: text, x: $0, y: middle + 4, isCentered: false)
                }
            }
            pendingLabels.append(PendingLabel(rank: 2, style: "label", candidates: candidates))
        }
        occupied.occupy(.init(left: left, top: top, right: left + width, bottom: top + Self.sliceHeight))
    }

    func draw(
        _ mark: Timeline.Mark, _ drawing: inout Drawing, _ occupied: inout OccupiedBoxes,
        _ pendingLabels: inout [PendingLabel]
    ) {
        let (x, y) = (x(mark.time), lanes[mark.lane].middle(ofRow: mark.depth))
        let (cx, cy) = (number(x), number(y))
        let color = "c\(mark.lane % Self.colors)"
        let shape: String
        var rank = 3
        switch mark.stage {
        case .post, .capture, .append:
            shape =
                "<circle class=\"post \(color)\" cx=\"\(cx)\" cy=\"\(cy)\" r=\"4\"/>"
                + (mark.label.isUnobserved ? Self.unobservedBar(x: x, y: y) : "")
            rank = mark.label.isUnobserved ? 0 : 1
        case .enqueue:
            shape = "<circle class=\"enqueue \(color)\" cx=\"\(cx)\" cy=\"\(cy)\" r=\"3.5\"/>"
            rank = 1
        case .coalesce, .drop, .cancel, .targetGone, .skip, .dequeue, .refuseWait, .lost:
            shape = "<path class=\"lost\" d=\"M\(number(x - 3.5)) \(number(y - 3.5))l7 7m0 -7l-7 7\"/>"
            rank = 2
        case .threadEnd, .end, .processEnd:
            shape = "<path class=\"stroke \(color)\" d=\"M\(cx) \(number(y - 6))v12\"/>"
        case .register, .remove, .log, .count, .processStart, .fork, .signal, .dropSignal, .drain, .deliver, .return,
            .wait, .waitEnd:
            shape = "<path class=\"moment\" d=\"M\(cx) \(number(y - 4))v8\"/>"
            rank = 4
        }
        let tip = tips.text(mark)
        let stub = mark.label.waiting > 0 ? Self.stub(x: x, y: y + 4) : ""
        drawing.things.append("<g>\(shape)\(stub)<title>\(XMLText.escaped(tip))</title></g>")
        occupied.occupy(.init(left: x - 4, top: y - 4, right: x + 4, bottom: y + 4))
        pendingLabels.append(pendingLabel(for: mark, x: x, y: y, rank: rank))
        draw(mark.arrow, toRow: mark.depth, tip: tip, label: nil, &drawing, &pendingLabels)
    }

    func pendingLabel(for mark: Timeline.Mark, x: Double, y: Double, rank: Int) -> PendingLabel {
        let label = mark.label
        let texts: [String]
        switch mark.stage {
        case .post, .capture, .append, .enqueue:
            // The stub of the post already shows a single waiting delivery.
            let outcome = label.waiting == 1 ? nil : label.outcome
            let told = outcome.map { outcome in
                [[outcome, label.name].compactMap(\.self).joined(separator: ", "), outcome]
            }
            texts = ((told ?? []) + [label.name, nil]).map {
                [label.post, $0].compactMap(\.self).joined(separator: " ")
            }
        case .log, .count, .wait, .refuseWait:
            texts = [label.details.joined(separator: ", ")]
        default:
            let what = [label.what, label.post].compactMap(\.self).joined(separator: " ")
            texts = label.name.map { ["\(what) \($0)", what] } ?? [([what] + label.details).joined(separator: " ")]
        }
        let shown = texts.filter { !$0.isEmpty }.map(Self.short)
        var candidates: [(text: String, x: Double, y: Double, isCentered: Bool)] = []
        for text in shown {
            candidates.append((text, x + 6, y + 4, false))
            if mark.depth == 0 { candidates.append((text, x - 3, y - 9, false)) }
            candidates.append((text, x - 9 - Self.textWidth(text), y + 4, false))
        }
        return PendingLabel(rank: rank, style: rank == 4 ? "label muted" : "label", candidates: candidates)
    }

    static func short(_ text: String) -> String {
        DisplayWidth.fit(Excerpt.of(text, length: 200), to: 36, ellipsis: "…")
    }

    func number(_ value: Double) -> String { SVGText.number(value) }
}
