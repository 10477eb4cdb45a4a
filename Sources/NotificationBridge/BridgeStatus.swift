internal import NATSClient

/// The details of a bridge in the status of the local server.
struct BridgeStatus {
    var server: NATSServer?
    /// Of the last ping.
    var roundTrip: Duration?
    /// Published, and posted here.
    var out = 0
    var `in` = 0
    /// Received, and not yet known to be published.
    var pending = 0
    /// Of this machine's posts, those that could not be published.
    var unusable = 0
    var problems: [Problem: String] = [:]

    /// The first one is told.
    enum Problem: String, CaseIterable {
        case denial = "NATS denies what the bridge needs"
        case refusal = "posts are not taken"
        case size = "posts are discarded"
        case position = "the position in the stream is not written"
        case link = "is not connected to NATS, and tries again"
    }

    func details(_ inbound: InboundPosts) -> [String: String] {
        var details = [
            "connected to": server?.description ?? "nothing", "posts out": "\(out)", "posts in": "\(`in`)",
            "pending": "\(pending)", "missing": "\(inbound.missing)",
        ]
        if server != nil, let roundTrip { details["round trip"] = "\(Int(roundTrip / .microseconds(1))) µs" }
        if unusable > 0 { details["not publishable"] = "\(unusable)" }
        if inbound.invalid > 0 { details["invalid"] = "\(inbound.invalid)" }
        let problem = Problem.allCases.lazy.compactMap { problems[$0] }.first ?? inbound.problem
        details["problem"] = problem.map { String($0.prefix(300)) }
        return details
    }
}
