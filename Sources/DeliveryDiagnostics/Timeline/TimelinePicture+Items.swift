internal import DeliveryRecording
internal import TerminalText

/// Draws handlers, waits, events, and the arrows between them.
extension TimelinePicture {
    mutating func drawItems() {
        let tips = timeline.items.map { SVG.title(timeline.tip(of: $0)) }
        let texts = timeline.items.indices.map { drawShape(of: timeline.items[$0], tips[$0]) }
        for (item, tip) in zip(timeline.items, tips) { drawArrow(to: item, tip) }
        // Posts and handlers have their labels first. The name is in the first label of a lane that has space for it.
        var named = Set<[String]>()
        let ranks = timeline.items.map(rank)
        for number in ranks.indices.sorted(by: { (ranks[$0], $0) < (ranks[$1], $1) }) where !texts[number].isEmpty {
            let (item, label) = (timeline.items[number], timeline.label(of: timeline.items[number]))
            let name = ["\(item.lane)", label.name ?? ""]
            let text = drawLabel(texts[number], of: item, rank: ranks[number], isNamed: named.contains(name))
            if let text, let shown = label.name, text.contains(shown) { named.insert(name) }
        }
    }

    private func rank(_ item: Timeline.Item) -> Int {
        if item.isRun || !item.isMark { return 1 }
        return switch PictureMark(item.stage) {
        case .post, .enqueue: timeline.isUnobserved(item) || item.waiting > 1 ? 0 : 1
        case .moment: 3
        default: 2
        }
    }

    private mutating func use(_ mark: PictureMark) -> PictureMark {
        used.insert(mark)
        return mark
    }

    private func middle(of item: Timeline.Item) -> Double { lanes[item.lane].middle(ofRow: item.depth) }

    private func box(of item: Timeline.Item) -> SVG.Box {
        let (left, middle) = (x(item.begin), middle(of: item))
        if item.isMark, !item.isRun {
            return .init(left: left - 4, top: middle - 4, right: left + 4, bottom: middle + 4)
        }
        let (half, least) = (Self.sliceHeight / 2, item.runsOn ? 8.0 : 3)
        return .init(left: left, top: middle - half, right: max(left + least, x(item.end)), bottom: middle + half)
    }

    /// Draws a box or a mark.
    ///
    /// - Returns: the texts of its label, the best first.
    private mutating func drawShape(of item: Timeline.Item, _ tip: String) -> [String] {
        let (box, color, texts) = (box(of: item), Self.color(item.lane), timeline.texts(of: item))
        let (x, y) = ((box.left + box.right) / 2, middle(of: item))
        labels.occupy(box)
        guard item.isRun || !item.isMark else {
            let mark = use(PictureMark(item.stage))
            var shape = mark.drawn(color, x: x, y: y)
            if timeline.isUnobserved(item) { shape += use(.unobserved).drawn(color, x: x, y: y) }
            if item.waiting > 0 { shape += use(.waiting).drawn(color, x: x, y: y + 4) }
            shapes.append("<g>\(shape)\(tip)</g>")
            return texts
        }
        let mark: PictureMark =
            switch item.stage {
            case .wait: .wait
            case .deliver:
                item.isRun ? .severalHandlers : item.runsOn || item.end > timeline.end ? .openHandler : .handler
            default: .several
            }
        shapes.append(use(mark).box(color, box, tip: tip))
        if item.waiting > 0 { shapes.append(use(.waiting).drawn(color, x: x, y: box.bottom)) }
        return texts
    }

    /// Draws a label in the item's box, beside the item, or above it.
    ///
    /// - Parameter isNamed: true if the lane has a label with the name.
    /// - Returns: the text; nil if there is no space.
    private mutating func drawLabel(
        _ texts: [String], of item: Timeline.Item, rank: Int, isNamed: Bool
    ) -> String? {
        let (box, y) = (box(of: item), middle(of: item))
        let x = (box.left + box.right) / 2
        let rows = item.depth == 0 ? lanes[item.lane].labelRows : 0
        // The last text of a box lacks the duration, so the others are tried beside the box before it.
        for part in [texts.dropLast(), texts.suffix(1)] {
            let fits = { box.left + 6 + PictureLabels.width($0) <= box.right }
            if item.isRun || !item.isMark, let text = part.first(where: fits) {
                self.texts.append(SVG.text(text, style: "inside", x: box.left + 4, y: y + 4))
                return text
            }
            let beside = Array(part.dropFirst(isNamed && part.count > 1 && rank == 1 ? 2 : 0))
            let placed = labels.place(beside, style: rank == 3 ? "label muted" : "label") { width in
                var places = [(box.right + 4, y + 4)]
                for row in 0..<rows {
                    let above = y - 9 - Double(row) * Self.labelHeight
                    places += [(x - 3, above), (x + 3 - width, above)]
                }
                return places + [(box.left - 5 - width, y + 4)]
            }
            guard let placed else { continue }
            self.texts.append(placed.drawn)
            return beside[placed.text]
        }
        missing += rank < 3 ? 1 : 0
        return nil
    }

    // MARK: Arrows

    private mutating func drawArrow(to item: Timeline.Item, _ tip: String) {
        guard let arrow = item.arrow else { return }
        let isOneLane = arrow.lane == item.lane
        let hasLatency = arrow.kind == .delivery || arrow.kind == .queued
        var start = (x: x(arrow.time), y: lanes[arrow.lane].middle(ofRow: arrow.depth))
        var end = (x: x(item.begin), y: middle(of: item))
        var curve: String?
        /// Where the label is: the shares of the way, and its height above it.
        var (shares, rise) = ([0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1], -3.0)
        if isOneLane {
            // A delivery on the posting thread is obvious from the handler's position, and other outcomes have a mark.
            guard hasLatency, end.x - start.x > 10 else { return }
            let height = min(16, 8 + (end.x - start.x) / 20)
            let base = min(start.y, end.y) - 5
            (start.y, end.y, shares, rise) = (base, base, [0.5], height * 0.55)
            let top = base + 1 - height
            curve = "C\(SVG.point(start.x + 6, top)) \(SVG.point(end.x - 6, top)) "
        } else {
            end.y += start.y < end.y ? -Self.sliceHeight / 2 : Self.sliceHeight / 2
        }
        let mark: PictureMark = arrow.kind == .lost ? .undelivered : arrow.kind == .queued ? .queued : .delivery
        let color = Self.color(arrow.lane)
        arrows.append(use(mark).arrow(color, from: start, to: end, curve: curve, tip: tip))
        guard hasLatency else { return }
        let (way, height) = (end.x - start.x, end.y - start.y)
        let label = labels.place(
            [(item.isRun ? "≤" : "") + arrow.longest.description], style: "latency \(color)",
            // With many arrows only some latencies are printed; the others are in tooltips.
            margin: timeline.items.count > 60 ? 16 : 4
        ) { width in
            // Beside a steep arrow, on a flat one.
            let shift = isOneLane || abs(way) >= width ? -width / 2 : 4
            return shares.map { (start.x + way * $0 + shift, start.y + height * $0 - rise) }
        }
        if let drawn = label?.drawn { texts.append(drawn) }
    }
}

extension Timeline {
    /// The texts of an item in a picture, the longest first. Of a post or handler, the first two have its name. The
    /// duration of a handler or wait is in all but the last.
    fileprivate func texts(of item: Item) -> [String] {
        let label = label(of: item)
        var (head, name, tail) = (label.post, label.name, String?.none)
        switch item.stage {
        case _ where item.isRun:
            (head, name) = (posts(of: item), item.stage == .deliver ? "handlers" : label.what)
            tail = ["×\(item.count)", label.outcome].compactMap(\.self).joined(separator: ", ")
        case .deliver, .wait:
            head = head ?? (item.stage == .wait ? "waits" : nil)
            tail = item.ending == .returned ? item.duration.description : nil
        case .post, .capture, .append, .enqueue:
            // The stub of the post already shows a single waiting delivery.
            tail = item.waiting == 1 ? nil : label.outcome
        case .log, .refuseWait: (head, name) = (nil, label.details.joined(separator: ", "))
        default: head = [label.what, label.post].compactMap(\.self).joined(separator: " ")
        }
        // Long texts keep their beginning and end.
        func short(_ text: String, to width: Int) -> String {
            DisplayWidth.fitMiddle(Excerpt.of(text, length: 200), to: width)
        }
        let names = [name.map { short($0, to: 36) }, name.map { short($0, to: 12) }, nil]
        return (names.map { [head, $0, tail] } + [[item.isRun ? "×\(item.count)" : label.post ?? tail]])
            .map { short($0.compactMap(\.self).joined(separator: " "), to: 60) }.filter { !$0.isEmpty }
    }
}
