internal import NATSClient

/// The details of a bridge in the status of the local server.
struct BridgeStatus {
    var link: NATSConnection?
    /// Published, and posted here.
    var out = 0
    var `in` = 0
    /// Received, and not yet known to be published.
    var pending = 0
    /// Of this machine's posts, those that could not be published.
    var unusable = 0
    var invalid = 0
    var missing = 0
    var refusal: String?
    var problem: String?

    var details: [String: String] {
        var details = [
            "connected to": link.map { "\($0.server)" } ?? "nothing", "posts out": "\(out)", "posts in": "\(`in`)",
            "pending": "\(pending)", "missing": "\(missing)",
        ]
        if let roundTrip = link?.roundTrip { details["round trip"] = "\(roundTrip.formatted)" }
        if unusable > 0 { details["not publishable"] = "\(unusable)" }
        if invalid > 0 { details["invalid"] = "\(invalid)" }
        if let problem = refusal ?? problem { details["problem"] = String(problem.prefix(300)) }
        return details
    }
}

extension Duration {
    /// In milliseconds.
    fileprivate var formatted: String {
        let microseconds = Int(self / .microseconds(1))
        return "\(microseconds / 1000).\(microseconds % 1000 / 100) ms"
    }
}
