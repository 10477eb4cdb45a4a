/// A thread in the format of `NSThread`'s description.
///
/// Apple's is `{number = 2, name = (null)}`, with or without `<NSThread: 0x600000c44000>` before it. GNUstep's is
/// `<NSThread: 0x55d0c8>{name = (null), num = 7305}`, with the kernel's id as the number.
struct ThreadDescription: Hashable {
    var number: Int
    /// Nil for `(null)`.
    var name: String?
    /// True if the number is the kernel's id. The main thread's is the process id.
    var isKernelID: Bool

    /// Splits a message into texts, each with the thread that is mentioned after it; the last has none. An incomplete
    /// description is text. Addresses of threads are removed, because they differ in each run.
    static func split(_ message: String) -> [(text: Substring, thread: ThreadDescription?)] {
        guard message.contains("{n") else { return [(message[...], nil)] }
        // The length is limited, so that a message with many braces is read in linear time.
        let description =
            #/(?:<\w*Thread: 0x[0-9a-fA-F]+>)?\{(?:number = (\d+), name = ([^}]{1,200})|name = ([^}]{1,200}), num = (\d+))\}/#
        var (parts, end) = ([(text: Substring, thread: ThreadDescription?)](), message.startIndex)
        for match in message.matches(of: description) {
            guard let number = (match.1 ?? match.4).flatMap({ Int($0) }), let name = match.2 ?? match.3 else {
                continue
            }
            let known = name == "(null)" ? nil : String(name)
            let thread = ThreadDescription(number: number, name: known, isKernelID: match.4 != nil)
            parts.append((message[end..<match.range.lowerBound], thread))
            end = match.range.upperBound
        }
        return parts + [(message[end...], nil)]
    }
}
