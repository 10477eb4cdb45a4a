internal import DeliveryRecording

/// Draws the background: the time axis, the lanes, and the gaps where time is left out.
extension TimelinePicture {
    /// Grid lines with their times, and bars where the scale is stretched.
    var axis: [String] {
        var lines: [String] = []
        var labels = PictureLabels(bounds: .init(left: 4, top: 28, right: Self.width - 4, bottom: Self.head))
        for cut in scale.cuts {
            let text = ElapsedTime(nanoseconds: cut.end - cut.begin).description
            let half = PictureLabels.width(text) / 2 + 4
            let middle = left + (cut.beginsAt + cut.endsAt) / 2
            labels.occupy(.init(left: middle - half, top: 47, right: middle + half, bottom: 60))
        }
        for tick in scale.ticks {
            let x = left + tick.position
            lines.append(SVG.path("grid", "M\(SVG.point(x, 46))V\(SVG.number(height))"))
            // At the right edge, a label is moved to the left if there is space.
            let half = PictureLabels.width(tick.label, style: "latency") / 2
            let middle = min(x, Self.width - 8 - half)
            let box = PictureLabels.Box(left: middle - half - 4, top: 31, right: middle + half + 4, bottom: 43)
            if labels.occupyIfFree(box) {
                lines.append(SVG.text(tick.label, style: "muted middle", x: middle, y: 41))
            }
        }
        for stretch in scale.stretches {
            let (begin, end) = (left + stretch.beginsAt, left + stretch.endsAt)
            let factor = "×\(stretch.factor)"
            let half = PictureLabels.width(factor) / 2
            let middle = (begin + end) / 2
            lines.append(
                "<g><title>this time is drawn \(stretch.factor) times as wide as the rest</title>"
                    + SVG.path("stretch", "M\(SVG.point(begin, 46))H\(SVG.number(end))") + "</g>")
            let box = PictureLabels.Box(left: middle - half - 3, top: 48, right: middle + half + 3, bottom: 59)
            if labels.occupyIfFree(box) { lines.append(SVG.text(factor, style: "cut middle", x: middle, y: 57)) }
        }
        return lines
    }

    var laneLines: [String] {
        zip(timeline.lanes, lanes).enumerated().map { index, lane in
            let (lane, frame) = lane
            let y = SVG.number(frame.middle(ofRow: 0))
            let title = DisplayWidth.fit(Excerpt.of(lane.title, length: 200), to: Self.maximumTitleWidth, ellipsis: "…")
            let begin = SVG.number(max(left, x(lane.begin) - (lane.begin < timeline.begin ? 6 : 0)))
            let end = SVG.number(lane.end > timeline.end ? Self.width - Self.right + 8 : x(lane.end))
            let waiting =
                Self.waiting(lane).map {
                    SVG.text($0, style: "waiting", x: 16, y: frame.middle(ofRow: 0) + 16)
                } ?? ""
            return """
                <g class="c\(index % Self.colors)"><title>\(XMLText.escaped("\(lane.title): \(lane.details)"))</title>\
                \(SVG.text(title, style: "lane", x: 16, y: frame.middle(ofRow: 0) + 4))\
                \(waiting)<path class="life" d="M\(begin) \(y)H\(end)"/></g>\
                <path class="grid" d="M8 \(SVG.number(frame.bottom - 3))H\(SVG.number(Self.width - 8))"/>
                """
        }
    }

    static func waiting(_ lane: Timeline.Lane) -> String? {
        lane.waiting > 0 ? "\(lane.waiting) still waiting" : nil
    }

    /// Gaps where time is left out, labelled with their duration.
    var gaps: [String] {
        scale.cuts.map { cut in
            let middle = left + (cut.beginsAt + cut.endsAt) / 2
            func edge(_ x: Double) -> [String] {
                var (points, y, isOut) = ([String](), 60.0, false)
                while y < height + 4 {
                    points.append("\(SVG.number(x + (isOut ? 3 : 0))) \(SVG.number(min(y, height)))")
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
                \(SVG.text(length.description, style: "cut middle", x: middle, y: 57))</g>
                """
        }
    }
}
