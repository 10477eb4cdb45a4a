/// Where a handler is called.
struct HandlerPlace {
    /// The thread's mailbox; nil: on the posting thread, or in tasks.
    var mailbox: Mailbox?
    var tasks: TaskMailbox?

    static func thread(_ mailbox: Mailbox?) -> HandlerPlace { HandlerPlace(mailbox: mailbox) }
}
