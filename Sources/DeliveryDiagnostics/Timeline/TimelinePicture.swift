/// A timeline as a picture, in SVG: time runs to the right, a lane for each thread.
///
/// It is one document without scripts or fonts of its own, reads on light and dark as its viewer prefers, and its text can be
/// selected. What has no room for a label has it as a tooltip.
public struct TimelinePicture: Sendable {
    private let timeline: Timeline
    private let tips: TimelineTips
    private let scale: TimelineScale
    private let lanes: [LaneFrame]
    private let height: Double
    /// Where lanes begin: right of their names.
    private let left: Double

    /// Where a lane is.
    private struct LaneFrame {
        var top: Double
        var rows: Int

        /// Above the first row there is room for labels.
        func middle(ofRow row: Int) -> Double {
            top + TimelinePicture.labelHeight + (Double(min(row, rows - 1)) + 0.5) * TimelinePicture.rowHeight
        }

        var bottom: Double {
            top + TimelinePicture.labelHeight + Double(rows) * TimelinePicture.rowHeight + TimelinePicture.laneGap
        }
    }

    private static let width = 960.0
    private static let mostTitle = 28
    private static let right = 28.0
    private static let head = 62.0
    fileprivate static let rowHeight = 18.0
    fileprivate static let labelHeight = 15.0
    fileprivate static let laneGap = 13.0
    private static let sliceHeight = 13.0
    private static let mostRows = 6
    private static let mostLanes = 24
    /// Of a character of a label, about.
    private static let characterWidth = 6.3
    private static let axisCharacterWidth = 7.2

    public init(_ timeline: Timeline) {
        let timeline = timeline.folded(toLanes: Self.mostLanes)
        var rows = [Int](repeating: 1, count: timeline.lanes.count)
        for slice in timeline.slices { rows[slice.lane] = max(rows[slice.lane], slice.depth + 1) }
        for mark in timeline.marks { rows[mark.lane] = max(rows[mark.lane], mark.depth + 1) }
        for run in timeline.runs { rows[run.lane] = max(rows[run.lane], run.depth + 1) }
        var lanes: [LaneFrame] = []
        var top = Self.head
        for rows in rows {
            lanes.append(LaneFrame(top: top, rows: min(rows, Self.mostRows)))
            top = lanes[lanes.count - 1].bottom
        }
        let title = timeline.lanes.map { min(Columns.width(of: $0.title), Self.mostTitle) }.max() ?? 0
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

    private static func moments(of timeline: Timeline) -> [Int64] {
        var moments = timeline.slices.flatMap { [$0.begin, $0.end] } + timeline.marks.map(\.time)
        moments += timeline.runs.flatMap { [$0.begin, $0.end] }
        return [timeline.begin, timeline.end] + moments.filter { $0 > timeline.begin && $0 < timeline.end }
    }

    // MARK: Document

    /// The whole document.
    public var svg: String {
        var (shapes, labels) = (Drawing(), LabelPlaces(bounds: bounds))
        draw(into: &shapes, &labels)
        let legend = Self.legend(of: timeline, hasCuts: !scale.cuts.isEmpty)
        let notes = timeline.notes.flatMap { Self.wrapped($0) }
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
            \((axis + laneLines + shapes.arrows + shapes.things + tears + shapes.labels + foot).joined(separator: "\n"))
            </svg>

            """
    }

    private var bounds: LabelPlaces.Box {
        LabelPlaces.Box(left: left, top: Self.head, right: Self.width - 4, bottom: height)
    }

    private var title: String {
        let file = timeline.source.split(separator: "/").last.map(String.init) ?? timeline.source
        let threads = timeline.lanes.reduce(0) { $0 + $1.threads }
        return "\(file): \(counted(threads, "thread")), \(ElapsedTime(nanoseconds: timeline.end - timeline.begin)), "
            + "\(counted(timeline.records, "record"))"
    }

    private var description: String {
        let posts =
            timeline.marks.count { $0.stage == .post }
            + timeline.runs.reduce(0) { $0 + ($1.stage == .post ? $1.count : 0) }
        let handlers =
            timeline.slices.count { $0.kind == .handler }
            + timeline.runs.reduce(0) { $0 + ($1.stage == .deliver ? $1.count : 0) }
        let slowest = timeline.arrows.filter { $0.kind == .delivery }.map(\.latency)
            .max().map { " The longest way from a post to its handler took \(ElapsedTime(nanoseconds: $0))." }
        return "Time runs to the right. Lanes are threads: \(timeline.lanes.map(\.title).joined(separator: ", ")). "
            + "\(counted(posts, "post")) and \(counted(handlers, "handler")) that ran, with an arrow from each post "
            + "to its handler.\(slowest ?? "")"
    }

    private func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    private static func wrapped(_ text: String) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let line = lines[lines.count - 1]
            if line.count + word.count > 150 {
                lines.append(String(word))
            } else {
                lines[lines.count - 1] = line.isEmpty ? String(word) : "\(line) \(word)"
            }
        }
        return lines
    }

    // MARK: Ground

    private func x(_ time: Int64) -> Double { left + scale.position(of: time) }

    private var axis: [String] {
        var (lines, labelled) = ([String](), 0.0)
        for tick in scale.ticks {
            let x = left + tick.position
            lines.append("<path class=\"grid\" d=\"M\(number(x)) 46V\(number(height))\"/>")
            // At the right edge a label goes to the left of its line, if that is free.
            let half = Double(tick.label.count) * Self.axisCharacterWidth / 2
            let middle = min(x, Self.width - 6 - half)
            guard middle - half > labelled else { continue }
            labelled = middle + half
            lines.append(
                "<text class=\"muted middle\" x=\"\(number(middle))\" y=\"41\">\(XMLText.escaped(tick.label))</text>")
        }
        return lines
    }

    private var laneLines: [String] {
        zip(timeline.lanes, lanes).enumerated().map { place, lane in
            let (lane, frame) = lane
            let y = number(frame.middle(ofRow: 0))
            let title = Columns.fit(Excerpt.of(lane.title, length: 200), to: Self.mostTitle, ellipsis: "…")
            let begin = number(max(left, x(lane.begin) - (lane.begin < timeline.begin ? 6 : 0)))
            let end = number(lane.end > timeline.end ? Self.width - Self.right + 8 : x(lane.end))
            let waiting =
                Self.waiting(lane).map {
                    "<text class=\"waiting\" x=\"16\" y=\"\(number(frame.middle(ofRow: 0) + 16))\">\($0)</text>"
                } ?? ""
            return """
                <g class="c\(place % Self.colors)"><title>\(XMLText.escaped("\(lane.title): \(lane.details)"))</title>\
                <text class="lane" x="16" y="\(number(frame.middle(ofRow: 0) + 4))">\(XMLText.escaped(title))</text>\
                \(waiting)<path class="life" d="M\(begin) \(y)H\(end)"/></g>\
                <path class="grid" d="M8 \(number(frame.bottom - 3))H\(number(Self.width - 8))"/>
                """
        }
    }

    private static func waiting(_ lane: Timeline.Lane) -> String? {
        lane.waiting > 0 ? "\(lane.waiting) still waiting" : nil
    }

    /// The picture is torn where time is cut, and says how much is missing.
    private var tears: [String] {
        scale.cuts.map { cut in
            let middle = left + (cut.beginsAt + cut.endsAt) / 2
            func edge(_ x: Double) -> [String] {
                var (points, y, isOut) = ([String](), 60.0, false)
                while y < height + 4 {
                    points.append("\(number(x + (isOut ? 3 : 0))) \(number(min(y, height)))")
                    (y, isOut) = (y + 6, !isOut)
                }
                return points
            }
            let (one, other) = (edge(middle - 7), edge(middle + 4))
            let length = ElapsedTime(nanoseconds: cut.end - cut.begin)
            return """
                <g><title>nothing begins or ends for \(XMLText.escaped(length.description))</title>\
                <path class="tear" d="M\(one.joined(separator: "L"))L\(other.reversed().joined(separator: "L"))Z"/>\
                <path class="edge" d="M\(one.joined(separator: "L"))M\(other.joined(separator: "L"))"/>\
                <text class="cut middle" x="\(number(middle))" y="56">\(XMLText.escaped(length.description))</text></g>
                """
        }
    }

    // MARK: Things

    /// In the order in which they are painted.
    private struct Drawing {
        var arrows: [String] = []
        var things: [String] = []
        var labels: [String] = []
    }

    /// Words that want a place, with where they would go, the best first.
    private struct Wish {
        var rank: Int
        var style: String
        var candidates: [(text: String, x: Double, y: Double, isCentered: Bool)]
        /// To be kept free around it.
        var margin = 2.0
    }

    private func draw(into drawing: inout Drawing, _ places: inout LabelPlaces) {
        var wishes: [Wish] = []
        for cut in scale.cuts {
            let middle = left + (cut.beginsAt + cut.endsAt) / 2
            places.take(.init(left: middle - 8, top: 0, right: middle + 8, bottom: height))
        }
        for slice in timeline.slices { draw(slice, &drawing, &places, &wishes) }
        for run in timeline.runs { draw(run, &drawing, &places, &wishes) }
        for mark in timeline.marks { draw(mark, &drawing, &places, &wishes) }
        for wish in wishes.sorted(by: { $0.rank < $1.rank }) {
            for candidate in wish.candidates {
                let width = Self.textWidth(candidate.text)
                let left = candidate.isCentered ? candidate.x - width / 2 : candidate.x
                let box = LabelPlaces.Box(
                    left: left - wish.margin, top: candidate.y - 8 - wish.margin / 2, right: left + width + wish.margin,
                    bottom: candidate.y + 1 + wish.margin / 2)
                guard places.takeIfFree(box) else { continue }
                // A line behind a label must not strike it out.
                drawing.labels.append(
                    "<rect class=\"behind\" x=\"\(number(left - 1))\" y=\"\(number(candidate.y - 9))\" "
                        + "width=\"\(number(width + 2))\" height=\"12\"/>"
                        + "<text class=\"\(wish.style)\" x=\"\(number(left))\" y=\"\(number(candidate.y))\">"
                        + "\(XMLText.escaped(candidate.text))</text>")
                break
            }
        }
    }

    private static func textWidth(_ text: String) -> Double { Double(Columns.width(of: text)) * characterWidth }

    private func draw(
        _ slice: Timeline.Slice, _ drawing: inout Drawing, _ places: inout LabelPlaces, _ wishes: inout [Wish]
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
            tip: tips.text(slice), texts: texts, &drawing, &places, &wishes)
        draw(slice.arrow, toRow: slice.depth, tip: tips.text(slice), label: nil, &drawing, &wishes)
    }

    private func draw(
        _ run: Timeline.Run, _ drawing: inout Drawing, _ places: inout LabelPlaces, _ wishes: inout [Wish]
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
            style: run.stage == .deliver ? "handler run" : "marks run", tip: tip, texts: texts, &drawing, &places,
            &wishes)
        draw(
            run.arrow, toRow: run.depth, tip: tip,
            label: run.latency.map { "≤\(ElapsedTime(nanoseconds: $0.upperBound))" },
            &drawing, &wishes)
    }

    private func drawBox(
        lane: Int, depth: Int, left: Double, right: Double, style: String, tip: String, texts: [String],
        _ drawing: inout Drawing, _ places: inout LabelPlaces, _ wishes: inout [Wish]
    ) {
        let middle = lanes[lane].middle(ofRow: depth)
        let (width, top) = (max(3, right - left), middle - Self.sliceHeight / 2)
        let frame =
            "x=\"\(number(left))\" y=\"\(number(top))\" width=\"\(number(width))\" height=\"\(number(Self.sliceHeight))\" rx=\"2\""
        // The ground comes first, so that no line strikes out what is written on it.
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
            wishes.append(Wish(rank: 2, style: "label", candidates: candidates))
        }
        places.take(.init(left: left, top: top, right: left + width, bottom: top + Self.sliceHeight))
    }

    private func draw(
        _ mark: Timeline.Mark, _ drawing: inout Drawing, _ places: inout LabelPlaces, _ wishes: inout [Wish]
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
                + (mark.label.isToNobody ? Self.nobody(x: x, y: y) : "")
            rank = mark.label.isToNobody ? 0 : 1
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
        places.take(.init(left: x - 4, top: y - 4, right: x + 4, bottom: y + 4))
        wishes.append(wish(for: mark, x: x, y: y, rank: rank))
        draw(mark.arrow, toRow: mark.depth, tip: tip, label: nil, &drawing, &wishes)
    }

    private func wish(for mark: Timeline.Mark, x: Double, y: Double, rank: Int) -> Wish {
        let label = mark.label
        let texts: [String]
        switch mark.stage {
        case .post, .capture, .append, .enqueue:
            // That one waits is seen.
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
        return Wish(rank: rank, style: rank == 4 ? "label muted" : "label", candidates: candidates)
    }

    private static func short(_ text: String) -> String {
        Columns.fit(Excerpt.of(text, length: 200), to: 36, ellipsis: "…")
    }

    // MARK: Arrows

    private func draw(
        _ place: Int?, toRow row: Int, tip: String, label: String?, _ drawing: inout Drawing, _ wishes: inout [Wish]
    ) {
        guard let arrow = place.map({ timeline.arrows[$0] }) else { return }
        let (from, to) = (x(arrow.from), x(arrow.to))
        let start = lanes[arrow.fromLane].middle(ofRow: arrow.fromDepth)
        var end = lanes[arrow.toLane].middle(ofRow: row)
        let color = arrow.kind == .lost ? "lost" : "c\(arrow.fromLane % Self.colors)"
        let path: String
        let middle: (x: Double, y: Double)
        if arrow.fromLane == arrow.toLane {
            // At once is seen from where the handler is, and what is lost has its own mark.
            guard arrow.kind == .delivery || arrow.kind == .queued, to - from > 10 else { return }
            let height = min(16, 8 + (to - from) / 20)
            let (top, base) = (min(start, end) - 4 - height, min(start, end) - 5)
            path =
                "M\(number(from)) \(number(base))C\(number(from + 6)) \(number(top)) \(number(to - 6)) \(number(top)) "
                + "\(number(to)) \(number(base))"
            middle = ((from + to) / 2, base - height * 0.55)
            end = base
        } else {
            end += start < end ? -Self.sliceHeight / 2 : Self.sliceHeight / 2
            path = "M\(number(from)) \(number(start))L\(number(to)) \(number(end))"
            middle = ((from + to) / 2, (start + end) / 2)
        }
        let kind = arrow.kind == .delivery ? "" : " dashed"
        drawing.arrows.append(
            "<g class=\"arrow \(color)\"><title>\(XMLText.escaped(tip))</title>"
                + "<path class=\"way\(kind)\" d=\"\(path)\"/>\(head(arrow, from: (from, start), to: (to, end)))</g>")
        guard arrow.kind == .delivery || arrow.kind == .queued else { return }
        let text = label ?? ElapsedTime(nanoseconds: arrow.latency).description
        let width = Self.textWidth(text)
        let lean = abs(to - from) < width ? (x: 4.0, isCentered: false) : (x: 0.0, isCentered: true)
        let spots = [0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1].map { share in
            arrow.fromLane == arrow.toLane
                ? (text, middle.x, middle.y, true)
                : (
                    text, from + (to - from) * share + lean.x, start + (end - start) * share + 3,
                    lean.isCentered
                )
        }
        // Among many arrows some latencies read better than all; the others are tooltips.
        wishes.append(
            Wish(
                rank: 0, style: "latency \(color)", candidates: spots, margin: timeline.arrows.count > 30 ? 16 : 2))
    }

    private func head(_ arrow: Timeline.Arrow, from: (x: Double, y: Double), to: (x: Double, y: Double)) -> String {
        if arrow.kind == .lost, arrow.fromLane != arrow.toLane { return "" }
        var (dx, dy) = (to.x - from.x, to.y - from.y)
        if arrow.fromLane == arrow.toLane { (dx, dy) = (0.3, 1) }
        let length = max(0.001, (dx * dx + dy * dy).squareRoot())
        (dx, dy) = (dx / length, dy / length)
        let back = (x: to.x - dx * 7, y: to.y - dy * 7)
        return "<path class=\"head\" d=\"M\(number(to.x)) \(number(to.y))"
            + "L\(number(back.x - dy * 3)) \(number(back.y + dx * 3))"
            + "L\(number(back.x + dy * 3)) \(number(back.y - dx * 3))Z\"/>"
    }

    private func number(_ value: Double) -> String { SVGText.number(value) }
}
