internal import DeliveryRecording

/// Draws handlers, waits, events, and the arrows between them.
extension TimelinePicture {
    mutating func drawItems() {
        /// The names that a lane shows already. The first item of a name has it in its label; others may be a number.
        var shown = Set<[String]>()
        for item in timeline.items {
            let label = timeline.label(of: item)
            let isFirst = label.name.map { shown.insert(["\(item.lane)", $0]).inserted } ?? false
            let tip = SVG.title(timeline.tip(of: item))
            if item.isRun || !item.isMark {
                drawBox(item, label, tip, namesItself: isFirst)
            } else {
                drawMark(item, label, tip, namesItself: isFirst)
            }
            drawArrow(to: item, tip)
        }
    }

    /// True if a notification was lost, or a deadlock was prevented. Coalescing and cancelling are not losses.
    static func isLoss(_ stage: DeliveryStage) -> Bool {
        switch stage {
        case .drop, .targetGone, .lost, .refuseWait: true
        default: false
        }
    }

    static func runsOn(_ item: Timeline.Item, in timeline: Timeline) -> Bool {
        !item.isRun && (item.ending?.runsOn == true || item.end > timeline.end)
    }

    static func color(_ lane: Int) -> String { "c\(lane % PictureStyle.colors)" }

    // MARK: Boxes

    private mutating func drawBox(_ item: Timeline.Item, _ label: TimelineLabel, _ tip: String, namesItself: Bool) {
        let runsOn = Self.runsOn(item, in: timeline)
        let left = x(item.begin)
        let width = max(runsOn ? 8 : 3, x(item.end) - left)
        let middle = lanes[item.lane].middle(ofRow: item.depth)
        let top = middle - Self.sliceHeight / 2
        let style =
            switch item.stage {
            case .wait: "wait"
            case .deliver: item.isRun ? "handler run" : runsOn ? "handler open" : "handler"
            default: Self.isLoss(item.stage) ? "marks run bad" : "marks run"
            }
        let frame =
            "x=\"\(SVG.number(left))\" y=\"\(SVG.number(top))\" width=\"\(SVG.number(width))\" "
            + "height=\"\(SVG.number(Self.sliceHeight))\" rx=\"2\""
        // The background comes first, so that no line strikes through the label.
        shapes.append(
            "<rect class=\"under\" \(frame)/><rect class=\"\(style) \(Self.color(item.lane))\" \(frame)>\(tip)</rect>")
        if item.isRun, item.waiting > 0 { shapes.append(Self.stub(x: left + width / 2, y: top + Self.sliceHeight)) }
        labels.occupy(.init(left: left, top: top, right: left + width, bottom: top + Self.sliceHeight))
        let texts = boxTexts(item, label).filter { !$0.isEmpty }
        for text in texts {
            guard let start = insideStart(PictureLabels.width(text), left: left, right: left + width) else { continue }
            return self.texts.append(SVG.text(text, style: "inside", x: start, y: middle + 4))
        }
        let candidates = texts.flatMap { text in
            let beside = [left + width + 5, left - 5 - PictureLabels.width(text)].map {
                PictureLabels.Candidate(text: text, x: $0, y: middle + 4)
            }
            return beside + above(text, item, x: left + width / 2, row: 0)
        }
        labels.add(.init(rank: namesItself ? 1 : 2, lane: item.lane, candidates: candidates))
    }

    /// Where a text of this width is inside a box and not on a gap of the time axis; nil if there is no space.
    private func insideStart(_ width: Double, left: Double, right: Double) -> Double? {
        let cuts = scale.cuts.map { self.left + $0.middle }.filter { left < $0 && $0 < right }
        let starts = [left + 4] + cuts.map { $0 + 11 }
        let ends = cuts.map { $0 - 11 } + [right - 2]
        return zip(starts, ends).first { $0 + width <= $1 }?.0
    }

    private func boxTexts(_ item: Timeline.Item, _ label: TimelineLabel) -> [String] {
        if item.isRun {
            let last = timeline.post(of: item.lastEntry)
            let posts = label.post.map { last == $0 ? "\($0) " : "\($0)…\(last ?? "") " } ?? ""
            let (count, outcome) = ("×\(item.count)", label.outcome.map { ", \($0)" } ?? "")
            let what = item.stage == .deliver ? "handlers" : label.what
            return ["\(posts)\(what) \(count)\(outcome)", count + outcome, count]
        }
        let length = item.ending == .returned ? ElapsedTime(nanoseconds: item.end - item.begin).description : nil
        let head = label.post ?? (item.stage == .wait ? "waits" : "")
        let names = [label.name.map { PictureLabels.short($0) }, label.name.map { PictureLabels.short($0, to: 12) }]
        let texts = names.map { [head, $0, length] } + [[head, length], [label.post ?? length]]
        return texts.map { $0.compactMap(\.self).joined(separator: " ") }
    }

    // MARK: Marks

    private mutating func drawMark(_ item: Timeline.Item, _ label: TimelineLabel, _ tip: String, namesItself: Bool) {
        let (x, y) = (x(item.begin), lanes[item.lane].middle(ofRow: item.depth))
        let color = Self.color(item.lane)
        let isUnobserved = timeline.isUnobserved(item)
        let nameRank = namesItself ? 1 : 2
        let (shape, rank): (String, Int) =
            switch TimelineSymbol.mark(of: item.stage) {
            case .post:
                (
                    SVG.circle("post \(color)", x: x, y: y, radius: 4)
                        + (isUnobserved ? Self.unobservedBar(x: x, y: y) : ""), isUnobserved ? 0 : nameRank
                )
            case .enqueue: (SVG.circle("enqueue \(color)", x: x, y: y, radius: 3.5), nameRank)
            case .lost, .problem:
                (item.stage == .coalesce ? Self.diamond(x: x, y: y) : Self.cross(item.stage, x: x, y: y), 3)
            case .laneEnds: (SVG.path("stroke \(color)", "M\(SVG.point(x, y - 6))v12"), 3)
            default: (SVG.path("moment", "M\(SVG.point(x, y - 4))v8"), 4)
            }
        shapes.append("<g>\(shape)\(item.waiting > 0 ? Self.stub(x: x, y: y + 4) : "")\(tip)</g>")
        labels.occupy(.init(left: x - 4, top: y - 4, right: x + 4, bottom: y + 4))
        let texts = markTexts(item, label)
        let isPost = rank <= 2
        // Each text beside the item and in the lowest row of labels; then in the rows above.
        let upperRows = 1..<max(1, isPost ? lanes[item.lane].labelRows : 1)
        func candidates(_ texts: [String]) -> [PictureLabels.Candidate] {
            var found: [PictureLabels.Candidate] = []
            for text in texts {
                found.append(.init(text: text, x: x + 8, y: y + 4))
                found += above(text, item, x: x, row: 0)
                found.append(.init(text: text, x: x - 9 - PictureLabels.width(text), y: y + 4))
            }
            for row in upperRows { for text in texts { found += above(text, item, x: x, row: row) } }
            return found
        }
        // The last text of a post is its number alone.
        let named = candidates(namesItself ? texts.dropLast() : texts)
        labels.add(
            .init(
                rank: rank, style: rank == 4 ? "label muted" : "label", lane: item.lane,
                candidates: named + (namesItself ? candidates(texts.suffix(1)) : []),
                sufficient: isPost && item.depth == 0 ? named.count : nil, isCounted: rank < 4))
    }

    private func markTexts(_ item: Timeline.Item, _ label: TimelineLabel) -> [String] {
        let texts: [[String?]]
        switch item.stage {
        case .post, .capture, .append, .enqueue:
            // The stub of the post already shows a single waiting delivery.
            let outcome = item.waiting == 1 ? nil : label.outcome
            let names = [label.name, label.name.map { PictureLabels.short($0, to: 12) }]
            let told = outcome.map { outcome in names.map { [label.post, $0.map { "\(outcome), \($0)" } ?? outcome] } }
            texts = (told ?? []) + names.map { [label.post, $0] } + [[label.post]]
        case .log, .count, .refuseWait:
            texts = [[label.details.joined(separator: ", ")]]
        default:
            texts = [[label.what, label.post, label.name], [label.what, label.post]]
        }
        return texts.map { PictureLabels.short($0.compactMap(\.self).joined(separator: " ")) }
            .reduce(into: []) { shown, text in if !text.isEmpty, shown.last != text { shown.append(text) } }
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

    private mutating func drawArrow(to item: Timeline.Item, _ tip: String) {
        guard let arrow = item.arrow.map({ timeline.arrows[$0] }) else { return }
        let (from, to) = (x(arrow.from), x(arrow.to))
        let start = lanes[arrow.fromLane].middle(ofRow: arrow.fromDepth)
        var end = lanes[arrow.toLane].middle(ofRow: item.depth)
        let isOneLane = arrow.fromLane == arrow.toLane
        let color =
            arrow.kind != .lost ? Self.color(arrow.fromLane) : Self.isLoss(item.stage) ? "bad" : "ended"
        let hasLatency = arrow.kind == .delivery || arrow.kind == .queued
        let path: String
        /// Where the label is: the shares of the way, and its height.
        var shares = [0.5]
        var labelY = { (share: Double) in start + (end - start) * share + 3 }
        if isOneLane {
            // A delivery on the posting thread is obvious from the handler's position, and other outcomes have a mark.
            guard hasLatency, to - from > 10 else { return }
            let height = min(16, 8 + (to - from) / 20)
            let base = min(start, end) - 5
            let (one, other) = (SVG.point(from + 6, base + 1 - height), SVG.point(to - 6, base + 1 - height))
            path = "M\(SVG.point(from, base))C\(one) \(other) \(SVG.point(to, base))"
            labelY = { _ in base - height * 0.55 }
            end = base
        } else {
            end += start < end ? -Self.sliceHeight / 2 : Self.sliceHeight / 2
            path = "M\(SVG.point(from, start))L\(SVG.point(to, end))"
            shares = [0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1]
        }
        let head =
            arrow.kind == .lost
            ? "" : Self.head(x: to, y: end, dx: isOneLane ? 0.3 : to - from, dy: isOneLane ? 1 : end - start)
        let way = SVG.path(arrow.kind == .delivery ? "way" : "way dashed", path)
        arrows.append("<g class=\"arrow \(color)\">\(tip)\(way)\(head)</g>")
        guard hasLatency else { return }
        let text =
            (item.isRun ? "≤" : "") + ElapsedTime(nanoseconds: item.latency?.upperBound ?? arrow.latency).description
        let style = "latency \(color)"
        let width = PictureLabels.width(text, style: style)
        // Beside a steep arrow, on a flat one.
        let shift = isOneLane || abs(to - from) >= width ? -width / 2 : 4
        labels.add(
            .init(
                rank: 0, style: style, lane: item.lane,
                candidates: shares.map { .init(text: text, x: from + (to - from) * $0 + shift, y: labelY($0)) },
                // With many arrows only some latencies are printed; the others are in tooltips.
                margin: timeline.arrows.count > 30 ? 16 : 4, isCounted: false))
    }

    private static func head(x: Double, y: Double, dx: Double, dy: Double) -> String {
        let length = max(0.001, (dx * dx + dy * dy).squareRoot())
        let (dx, dy) = (dx / length, dy / length)
        let (backX, backY) = (x - dx * 7, y - dy * 7)
        let (one, other) = (SVG.point(backX - dy * 3, backY + dx * 3), SVG.point(backX + dy * 3, backY - dx * 3))
        return SVG.path("head", "M\(SVG.point(x, y))L\(one)L\(other)Z")
    }

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
