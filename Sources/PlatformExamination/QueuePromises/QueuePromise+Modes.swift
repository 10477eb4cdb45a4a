internal import Foundation

/// Promises about run loop modes.
extension QueuePromise {
    static let modes: [QueuePromise] = [
        QueuePromise(
            "no-mode-is-the-default-mode", "no mode: not posted while another mode runs", sentence: otherMode,
            expected: ["modal ends", "asap"]
        ) { trial in
            trial.enqueue("asap", .asap)
            trial.pass(QueueTrial.modal)
            trial.pass(QueueTrial.modal)
            trial.notes.note("modal ends")
            trial.run()
        },
        QueuePromise(
            "custom-mode-is-held-back", "custom mode: not posted while another mode runs", sentence: ownMode,
            expected: ["default ends"]
        ) { trial in
            trial.enqueue("asap", .asap, modes: [QueueTrial.modal])
            trial.enqueue("idle", .whenIdle, modes: [QueueTrial.modal])
            trial.run()
            trial.notes.note("default ends")
        },
        QueuePromise(
            "custom-mode-asap", "custom mode, asap: posted when it runs", sentence: ownMode, fact: "F8",
            expected: ["asap"]
        ) { trial in
            trial.enqueue("asap", .asap, modes: [QueueTrial.modal])
            trial.run(QueueTrial.modal)
        },
        QueuePromise(
            "custom-mode-idle", "custom mode, idle: posted when it runs", sentence: ownMode, fact: "F8",
            expected: ["idle"]
        ) { trial in
            trial.enqueue("idle", .whenIdle, modes: [QueueTrial.modal])
            trial.run(QueueTrial.modal)
        },
        QueuePromise(
            "custom-mode-now", "custom mode, now: posted at once while it runs", sentence: ownMode,
            expected: ["timer", "now", "callout ends"]
        ) { trial in
            trial.dueTimer("timer", mode: QueueTrial.modal) {
                trial.enqueue("now", .now, modes: [QueueTrial.modal])
                trial.notes.note("callout ends")
            }
            trial.run(QueueTrial.modal)
        },
        QueuePromise(
            "common-modes-asap", "common modes, asap: posted in the default mode", fact: "F8", expected: ["asap"]
        ) { trial in
            trial.enqueue("asap", .asap, modes: [.common])
            trial.run()
        },
        QueuePromise(
            "common-modes-idle", "common modes, idle: posted in the default mode", fact: "F8", expected: ["idle"]
        ) { trial in
            trial.enqueue("idle", .whenIdle, modes: [.common])
            trial.run()
        },
        QueuePromise(
            "common-modes-now", "common modes, now: posted at once in the default mode", fact: "F8",
            expected: ["timer", "now", "callout ends"]
        ) { trial in
            trial.dueTimer("timer") {
                trial.enqueue("now", .now, modes: [.common])
                trial.notes.note("callout ends")
            }
            trial.run()
        },
        QueuePromise(
            "now-waits-for-its-mode", "now, in another mode: posted when a matching mode runs",
            sentence: otherMode,
            expected: ["timer", "modal ends", "now"]
        ) { trial in
            trial.dueTimer("timer", mode: QueueTrial.modal) { trial.enqueue("now", .now) }
            trial.pass(QueueTrial.modal)
            trial.notes.note("modal ends")
            trial.run()
        },
    ]

    private static let ownMode =
        "the notifications will be posted only when the run loop is in this mode."
    private static let otherMode =
        "If the run loop is not currently in this mode, the notifications wait until the next time that mode is "
        + "entered."
}
