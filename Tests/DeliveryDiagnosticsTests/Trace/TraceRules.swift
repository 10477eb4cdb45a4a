import Foundation

/// Checks a trace against the rules of the trace event format and of Perfetto's parser.
struct TraceRules {
    /// The violated rules.
    private(set) var problems: [String] = []
    /// Slices as `name begin-end`, in nanoseconds, in the order of their ends.
    private(set) var closed: [String] = []
    /// The names of the slices of each complete flow.
    private(set) var flows: [[String]] = []
    private(set) var threadNames: [Track: String] = [:]

    struct Track: Hashable {
        var process: Int
        var thread: Int
    }

    private var open: [Track: [(name: String, begin: Int)]] = [:]
    private var lastTimes: [Track: Int] = [:]
    /// By their numbers, which are used once.
    private var begunFlows: [Int: String] = [:]
    private var endedFlows: Set<Int> = []

    init(_ text: [UInt8]) {
        guard let trace = try? JSONSerialization.jsonObject(with: Data(text)) as? [String: Any],
            let events = trace["traceEvents"] as? [[String: Any]], trace["displayTimeUnit"] as? String == "ns"
        else {
            problems = ["is no JSON object with events and a unit"]
            return
        }
        for (index, event) in events.enumerated() {
            if let problem = take(event) { problems.append("event \(index) \(problem): \(event)") }
        }
        for (track, slices) in open where !slices.isEmpty { problems.append("\(track): \(slices) never end") }
        for flow in begunFlows.keys where !endedFlows.contains(flow) { problems.append("flow \(flow) never ends") }
        for track in lastTimes.keys where threadNames[track] == nil { problems.append("\(track) has no name") }
        if Set(threadNames.keys.map(\.thread)).count != threadNames.count { problems.append("two threads have an id") }
    }

    /// Returns the problem of the event.
    private mutating func take(_ event: [String: Any]) -> String? {
        guard let phase = event["ph"] as? String, let process = event["pid"] as? Int else { return "has no process" }
        let name = event["name"] as? String ?? ""
        let track = Track(process: process, thread: event["tid"] as? Int ?? -1)
        if phase == "M" {
            if name == "thread_name" { threadNames[track] = (event["args"] as? [String: Any])?["name"] as? String }
            return nil
        }
        guard let microseconds = event["ts"] as? Double, microseconds >= 0 else { return "has no time" }
        let time = Int(min((microseconds * 1000).rounded(), 9e18))
        if time < lastTimes.updateValue(time, forKey: track) ?? 0 { return "is before the one before it" }
        let flow = event["id"] as? Int ?? -1
        switch phase {
        case "B": open[track, default: []].append((name, time))
        case "E":
            guard let slice = open[track]?.popLast() else { return "ends nothing" }
            closed.append("\(slice.name) \(slice.begin)-\(time)")
        case "s", "f":
            // A viewer attaches a flow to the slice of the track that began last, so that must be the right slice.
            guard let slice = open[track]?.last, slice.begin == time else {
                return "lies in no slice that begins there"
            }
            if phase == "s" { return begunFlows.updateValue(slice.name, forKey: flow) == nil ? nil : "begins again" }
            guard let begun = begunFlows[flow], endedFlows.insert(flow).inserted else { return "ends no flow" }
            if event["bp"] as? String != "e" { return "binds to the next slice" }
            flows.append([begun, slice.name])
        default: return "is of no known phase"
        }
        return nil
    }
}
