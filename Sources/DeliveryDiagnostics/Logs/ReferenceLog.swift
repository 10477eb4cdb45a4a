/// A log that the documents print, to compare a run's log with.
package enum ReferenceLog: String, CaseIterable, Sendable {
    /// Registered on the main thread, posted in the background, handled on the posting thread.
    case listing1 = "listing-1"
    /// The same post, handled on the main thread.
    case listing2 = "listing-2"
    /// The observer is released while its handler runs; the program crashes after the last line.
    case listing4 = "listing-4"

    /// The lines, each ended by a newline.
    package var text: String {
        switch self {
        case .listing1:
            """
            2016-02-13 22:05:12.856 test[865:45102] current thread = {number = 1, name = main}
            2016-02-13 22:05:12.857 test[865:45174] current thread = {number = 2, name = (null)}
            2016-02-13 22:05:12.857 test[865:45174] test notification

            """
        case .listing2:
            """
            2016-02-13 23:38:31.637 test[1474:92483] current thread = {number = 1, name = main}
            2016-02-13 23:38:31.663 test[1474:92483] current thread = {number = 1, name = main}
            2016-02-13 23:38:31.663 test[1474:92483] process notification

            """
        case .listing4:
            """
            2016-02-13 00:31:41.286 SKTest[932:88791] handle notification begin
            2016-02-13 00:31:41.291 SKTest[932:88713] Observer dealloc
            2016-02-13 00:31:42.361 SKTest[932:88791] handle notification end

            """
        }
    }
}

extension TextLog {
    /// One of the documents' logs.
    package init(_ reference: ReferenceLog) throws {
        try self.init(name: reference.rawValue, text: reference.text)
    }
}
