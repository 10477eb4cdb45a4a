internal import DeliveryRecording

/// Tooltips of a picture, with all the details.
struct TimelineTips {
    let timeline: Timeline

    func text(_ slice: Timeline.Slice) -> String {
        let length =
            switch slice.ending {
            case .returned: "runs \(ElapsedTime(nanoseconds: slice.end - slice.begin))"
            case .runsOn: "runs on"
            case .isNotRecorded: "its return is not recorded"
            }
        return text(slice.label, at: slice.begin, lane: slice.lane, arrow: slice.arrow, also: length)
    }

    func text(_ mark: Timeline.Mark) -> String {
        text(mark.label, at: mark.time, lane: mark.lane, arrow: mark.arrow, also: nil)
    }

    func text(_ run: Timeline.Run) -> String {
        let range = run.latency.map {
            "\(ElapsedTime(nanoseconds: $0.lowerBound)) to \(ElapsedTime(nanoseconds: $0.upperBound)) after their posts"
        }
        let longest = run.stage == .deliver ? "the longest \(ElapsedTime(nanoseconds: run.longest))" : nil
        let facts = [
            "\(run.count) similar, up to \(run.lastPost ?? "the last")", range,
            "in \(ElapsedTime(nanoseconds: run.end - run.begin))", longest,
        ].compactMap(\.self)
        return text(run.label, at: run.begin, lane: run.lane, arrow: nil, also: facts.joined(separator: ", "))
    }

    private func text(
        _ label: Timeline.Label, at time: Int64, lane: Int, arrow: Int?, also: String?
    ) -> String {
        var lines = [[label.what, label.post, label.name].compactMap(\.self).joined(separator: " ")]
        lines.append("on \(timeline.lanes[lane].title), at \(ElapsedTime.exact(time))")
        if let arrow = arrow.map({ timeline.arrows[$0] }) {
            let from = arrow.fromLane == arrow.toLane ? "" : " on \(timeline.lanes[arrow.fromLane].title)"
            let what = arrow.kind == .queued ? "enqueue" : "post"
            lines.append("\(ElapsedTime(nanoseconds: arrow.latency)) after its \(what)\(from)")
        }
        lines += [also, label.outcome].compactMap(\.self) + label.details
        lines += [label.location.map { "at \($0)" }, "line \(label.line)"].compactMap(\.self)
        return lines.map { Excerpt.of($0, length: 300) }.joined(separator: "\n")
    }
}
