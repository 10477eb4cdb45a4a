internal import DeliveryRecording

/// Draws handlers, waits, events, and the arrows between them.
extension TimelinePicture {
    func drawItems(into drawing: inout Drawing, _ labels: inout PictureLabels) {
        /// The names that a lane shows already. The first item of a name has it in its label; others may be a number.
        var shown = Set<[String]>()
        for item in timeline.items {
            let isFirst = item.label.name.map { shown.insert(["\(item.lane)", $0]).inserted } ?? false
            if item.isRun || item.kind != .mark {
                drawBox(item, namesItself: isFirst, &drawing, &labels)
            } else {
                drawMark(item, namesItself: isFirst, &drawing, &labels)
            }
            drawArrow(to: item, &drawing, &labels)
        }
    }

    /// True if a notification was lost, or a deadlock was prevented. Others were not wanted any more.
    static func isLoss(_ stage: DeliveryStage) -> Bool {
        switch stage {
        case .drop, .targetGone, .lost, .refuseWait: true
        default: false
        }
    }

    // MARK: Boxes

    private func drawBox(
        _ item: Timeline.Item, namesItself: Bool, _ drawing: inout Drawing, _ labels: inout PictureLabels
    ) {
        let runsOn = !item.isRun && (item.ending == .runsOn || item.end > timeline.end)
        let left = x(item.begin)
        let width = max(runsOn ? 8 : 3, x(item.end) - left)
        let middle = lanes[item.lane].middle(ofRow: item.depth)
        let top = middle - Self.sliceHeight / 2
        let style =
            switch item.kind {
            case .wait: "wait"
            case .handler: item.isRun ? "handler run" : runsOn ? "handler open" : "handler"
            case .mark: Self.isLoss(item.stage) ? "marks run bad" : "marks run"
            }
        let frame =
            "x=\"\(SVG.number(left))\" y=\"\(SVG.number(top))\" width=\"\(SVG.number(width))\" "
            + "height=\"\(SVG.number(Self.sliceHeight))\" rx=\"2\""
        // The background comes first, so that no line strikes through the label.
        drawing.things.append(
            "<rect class=\"under\" \(frame)/><rect class=\"\(style) c\(item.lane % Self.colors)\" \(frame)>"
                + "<title>\(XMLText.escaped(tips.text(item)))</title></rect>")
        if item.isRun, item.label.waiting > 0 {
            drawing.things.append(Self.stub(x: left + width / 2, y: top + Self.sliceHeight))
        }
        labels.occupy(.init(left: left, top: top, right: left + width, bottom: top + Self.sliceHeight))
        let texts = (item.isRun ? runTexts(item) : boxTexts(item)).filter { !$0.isEmpty }
        for text in texts {
            guard let start = insideStart(PictureLabels.width(text), left: left, right: left + width) else { continue }
            return drawing.labels.append(SVG.text(text, style: "inside", x: start, y: middle + 4))
        }
        let candidates = texts.flatMap { text in
            let beside = [left + width + 5, left - 5 - PictureLabels.width(text)].map {
                PictureLabels.Candidate(text: text, x: $0, y: middle + 4)
            }
            return beside + above(text, item, x: left + width / 2, row: 0)
        }
        labels.add(
            .init(
                rank: namesItself ? 1 : 2, style: "label", lane: item.lane, candidates: candidates))
    }

    /// Where a text of this width is inside a box and not on a gap of the time axis; nil if there is no space.
    private func insideStart(_ width: Double, left: Double, right: Double) -> Double? {
        let cuts = scale.cuts.map { self.left + ($0.beginsAt + $0.endsAt) / 2 }.filter { left < $0 && $0 < right }
        let starts = [left + 4] + cuts.map { $0 + 11 }
        let ends = cuts.map { $0 - 11 } + [right - 2]
        return zip(starts, ends).first { $0 + width <= $1 }?.0
    }

    private func boxTexts(_ item: Timeline.Item) -> [String] {
        let length = item.ending == .returned ? ElapsedTime(nanoseconds: item.end - item.begin).description : nil
        let head = item.label.post ?? (item.kind == .wait ? "waits" : "")
        return [
            [head, item.label.name.map { PictureLabels.short($0) }, length],
            [head, item.label.name.map { PictureLabels.short($0, to: 12) }, length], [head, length],
            [item.label.post ?? length],
        ].map { $0.compactMap(\.self).joined(separator: " ") }
    }

    private func runTexts(_ item: Timeline.Item) -> [String] {
        let last = item.lastPost == item.label.post ? "" : "…\(item.lastPost ?? "")"
        let what = "\(item.kind == .handler ? "handlers" : item.label.what) ×\(item.count)"
        let outcome = item.label.outcome.map { ", \($0)" } ?? ""
        let posts = item.label.post.map { "\($0)\(last) " } ?? ""
        return ["\(posts)\(what)\(outcome)", "×\(item.count)\(outcome)", "×\(item.count)"]
    }

    // MARK: Marks

    private func drawMark(
        _ item: Timeline.Item, namesItself: Bool, _ drawing: inout Drawing, _ labels: inout PictureLabels
    ) {
        let (x, y) = (x(item.begin), lanes[item.lane].middle(ofRow: item.depth))
        let color = "c\(item.lane % Self.colors)"
        let (shape, rank): (String, Int)
        switch item.stage {
        case .post, .capture, .append:
            shape =
                "<circle class=\"post \(color)\" cx=\"\(SVG.number(x))\" cy=\"\(SVG.number(y))\" r=\"4\"/>"
                + (item.label.isUnobserved ? Self.unobservedBar(x: x, y: y) : "")
            rank = item.label.isUnobserved ? 0 : namesItself ? 1 : 2
        case .enqueue:
            shape = "<circle class=\"enqueue \(color)\" cx=\"\(SVG.number(x))\" cy=\"\(SVG.number(y))\" r=\"3.5\"/>"
            rank = namesItself ? 1 : 2
        case .coalesce:
            shape = Self.diamond(x: x, y: y)
            rank = 3
        case .drop, .cancel, .targetGone, .skip, .dequeue, .refuseWait, .lost:
            shape = Self.cross(item.stage, x: x, y: y)
            rank = 3
        case .threadEnd, .end, .processEnd:
            shape = SVG.path("stroke \(color)", "M\(SVG.point(x, y - 6))v12")
            rank = 3
        case .register, .remove, .log, .count, .processStart, .fork, .signal, .dropSignal, .drain, .deliver, .return,
            .wait, .waitEnd:
            shape = SVG.path("moment", "M\(SVG.point(x, y - 4))v8")
            rank = 4
        }
        let stub = item.label.waiting > 0 ? Self.stub(x: x, y: y + 4) : ""
        drawing.things.append("<g>\(shape)\(stub)<title>\(XMLText.escaped(tips.text(item)))</title></g>")
        labels.occupy(.init(left: x - 4, top: y - 4, right: x + 4, bottom: y + 4))
        let texts = markTexts(item, namesItself: namesItself)
        let isPost = rank <= 2
        // Each text beside the item and in the lowest row of labels; then in the rows above.
        let upperRows = 1..<max(1, isPost ? lanes[item.lane].labelRows : 1)
        func candidates(_ texts: [String]) -> [PictureLabels.Candidate] {
            texts.flatMap { text in
                [PictureLabels.Candidate(text: text, x: x + 8, y: y + 4)] + above(text, item, x: x, row: 0)
                    + [PictureLabels.Candidate(text: text, x: x - 9 - PictureLabels.width(text), y: y + 4)]
            } + upperRows.flatMap { row in texts.flatMap { above($0, item, x: x, row: row) } }
        }
        // The last text of a post is its number alone.
        let named = candidates(namesItself ? texts.dropLast() : texts)
        labels.add(
            .init(
                rank: rank, style: rank == 4 ? "label muted" : "label", lane: item.lane,
                candidates: named + (namesItself ? candidates(texts.suffix(1)) : []),
                sufficient: isPost && item.depth == 0 ? named.count : nil, isCounted: rank < 4))
    }

    private func markTexts(_ item: Timeline.Item, namesItself: Bool) -> [String] {
        let label = item.label
        let texts: [[String?]]
        switch item.stage {
        case .post, .capture, .append, .enqueue:
            // The stub of the post already shows a single waiting delivery.
            let outcome = label.waiting == 1 ? nil : label.outcome
            let names = [label.name, label.name.map { PictureLabels.short($0, to: 12) }]
            let told = outcome.map { outcome in names.map { [label.post, $0.map { "\(outcome), \($0)" } ?? outcome] } }
            texts = (told ?? []) + names.map { [label.post, $0] } + [[label.post]]
        case .log, .count, .refuseWait:
            texts = [[label.details.joined(separator: ", ")]]
        default:
            texts = [[label.what, label.post, label.name], [label.what, label.post]]
        }
        var shown: [String] = []
        for text in texts.map({ PictureLabels.short($0.compactMap(\.self).joined(separator: " ")) })
        where !text.isEmpty && shown.last != text {
            shown.append(text)
        }
        return shown
    }

    /// The positions in a row of labels above the lane, with a line to the item from the second row on.
    private func above(_ text: String, _ item: Timeline.Item, x: Double, row: Int) -> [PictureLabels.Candidate] {
        guard item.depth == 0 else { return [] }
        let y = lanes[item.lane].middle(ofRow: 0)
        return [x - 3, x + 3 - PictureLabels.width(text)].map {
            PictureLabels.Candidate(
                text: text, x: $0, y: y - 9 - Double(row) * Self.labelHeight, leader: row == 0 ? nil : (x, y - 5))
        }
    }

    // MARK: Arrows

    private func drawArrow(to item: Timeline.Item, _ drawing: inout Drawing, _ labels: inout PictureLabels) {
        guard let arrow = item.arrow.map({ timeline.arrows[$0] }) else { return }
        let (from, to) = (x(arrow.from), x(arrow.to))
        let start = lanes[arrow.fromLane].middle(ofRow: arrow.fromDepth)
        var end = lanes[arrow.toLane].middle(ofRow: item.depth)
        let isOneLane = arrow.fromLane == arrow.toLane
        let color =
            arrow.kind != .lost ? "c\(arrow.fromLane % Self.colors)" : Self.isLoss(item.stage) ? "bad" : "ended"
        let hasLatency = arrow.kind == .delivery || arrow.kind == .queued
        let path: String
        var middle = (x: (from + to) / 2, y: 0.0)
        if isOneLane {
            // A delivery on the posting thread is obvious from the handler's position, and other outcomes have a mark.
            guard hasLatency, to - from > 10 else { return }
            let height = min(16, 8 + (to - from) / 20)
            let base = min(start, end) - 5
            let top = base + 1 - height
            path =
                "M\(SVG.point(from, base))C\(SVG.point(from + 6, top)) \(SVG.point(to - 6, top)) "
                + SVG.point(to, base)
            middle.y = base - height * 0.55
            end = base
        } else {
            end += start < end ? -Self.sliceHeight / 2 : Self.sliceHeight / 2
            path = "M\(SVG.point(from, start))L\(SVG.point(to, end))"
        }
        let head =
            arrow.kind == .lost
            ? "" : Self.head(x: to, y: end, dx: isOneLane ? 0.3 : to - from, dy: isOneLane ? 1 : end - start)
        drawing.arrows.append(
            "<g class=\"arrow \(color)\"><title>\(XMLText.escaped(tips.text(item)))</title>"
                + "\(SVG.path(arrow.kind == .delivery ? "way" : "way dashed", path))\(head)</g>")
        guard hasLatency else { return }
        let bound = item.isRun ? "≤" : ""
        let text = bound + ElapsedTime(nanoseconds: item.latency?.upperBound ?? arrow.latency).description
        let style = "latency \(color)"
        let width = PictureLabels.width(text, style: style)
        // Beside a steep arrow, on a flat one.
        let shift = isOneLane || abs(to - from) >= width ? -width / 2 : 4
        let shares = isOneLane ? [0.5] : [0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1]
        labels.add(
            .init(
                rank: 0, style: style, lane: item.lane,
                candidates: shares.map { share in
                    .init(
                        text: text, x: from + (to - from) * share + shift,
                        y: isOneLane ? middle.y : start + (end - start) * share + 3)
                },
                // With many arrows only some latencies are printed; the others are in tooltips.
                margin: timeline.arrows.count > 30 ? 16 : 4, isCounted: false))
    }

    private static func head(x: Double, y: Double, dx: Double, dy: Double) -> String {
        let length = max(0.001, (dx * dx + dy * dy).squareRoot())
        let (dx, dy) = (dx / length, dy / length)
        let (backX, backY) = (x - dx * 7, y - dy * 7)
        return SVG.path(
            "head",
            "M\(SVG.point(x, y))L\(SVG.point(backX - dy * 3, backY + dx * 3))"
                + "L\(SVG.point(backX + dy * 3, backY - dx * 3))Z")
    }

    // MARK: Symbols

    /// The bar of a post without observers.
    static func unobservedBar(x: Double, y: Double) -> String {
        SVG.path("nobody", "M\(SVG.point(x - 5, y + 5))l10 -10")
    }

    /// The stub below a post with deliveries that are still waiting.
    static func stub(x: Double, y: Double) -> String { SVG.path("waits", "M\(SVG.point(x, y))v5m-4 0h8") }

    /// A notification that became part of another.
    static func diamond(x: Double, y: Double) -> String {
        SVG.path("merged", "M\(SVG.point(x - 4, y))l4 -4l4 4l-4 4z")
    }

    /// A notification that was not delivered: red if it was lost.
    static func cross(_ stage: DeliveryStage, x: Double, y: Double) -> String {
        SVG.path(isLoss(stage) ? "bad cross" : "ended cross", "M\(SVG.point(x - 3.5, y - 3.5))l7 7m0 -7l-7 7")
    }
}
