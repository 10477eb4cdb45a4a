/// Stories of records as `RecordedStory.init(_:)` describes, and their findings.
///
///     note fork 1 | forked once       the severity, the kind and the lines of the evidence; what the finding says
///     + fork -                        a story that has this one finding
///     - log -                         a story that differs just enough not to have it
///     - [note backlog] add o1; …      one with other findings
///
/// Each story ends with the exit of its process, unless it has an end.
enum FindingStories {
    static let observers = """
        problem removedBeforePost 1 2 3 | token was released. Then Done was posted 3 times without | keep its token
        + add o1; remove o1 n0 !released; 1-3: worker post #* n0
        - add o1; add o2; remove o1 n0; give #1 o2
        note removedBeforePost 1 2 3
        + add o1; remove o1 n0 !cancelled; 1-3: worker post #* n0
        + add o1; remove o1 n0 !released +1s; post #1 n0

        problem deliveredAfterRemoval 1 6 7 | received 1 notification after it was removed
        + add o1; 1-2: other hand #* o1; remove o1 n0; handle #1 o1; cancel #2 o1
        - add o1; 1-2: other hand #* o1; remove o1 n1; handle #1 o1; cancel #2 o1
        - add o1; 1-2: other hand #* o1; remove o1; handle #1 o1; cancel #2 o1
        + add o1 >main; 1-2: other hand #* o1 >main; remove o1 n1; main handle #1 o1; cancel #2 o1
        problem deliveredAfterRemoval 1 3 4 | received 1 notification after it was removed | cancelAndWait()
        + worker add o1 ^; worker fbegin #1; fremove o1; worker frun #1 o1; worker fend #1 n1
        - worker add o1 ^; worker fbegin #1; worker frun #1 o1; worker fend #1 n1; fremove o1
        problem deliveredAfterRemoval 1 6 7 | observer 1 of Done was removed again 2 times
        + add o1 ^; fpost #1 o1; fremove o1; 1-2: fremove o1 %again
        problem deliveredAfterRemoval 1 | An observer was removed again once
        + fremove %again

        note neverRemoved 1 3 | 3 observers of Done were added at one source location | [weak self]
        + 1-3: add o* @7 ^; fpost #1 o1,2,3
        - add o1 @7 ^; fpost #1 o1
        - 1-3: add o* @7 ^; fremove o2; fpost #1 o1,3
        - add o1 @7 ^ /window; add o2 @7 ^ /panel; fpost #1 o1 /window; fpost #2 o2 /panel

        problem neverDelivered 1 3 | never received anything: its transform returned nil.
        + add o1; 1-2: post #* n1 & skip #* o1
        - add o1; 1-2: post #* n1 & skip #* o1; give #3 o1
        - add o1; post #1 n1; skip #1 o1; other remove o1 n0
        problem neverDelivered 1 2 | it observes only Window 0x10, but its name was posted with Panel 0x20.
        + add o1 /window; post #1 n0 /panel
        - add o1; post #1 /panel
        problem neverDelivered 1 2 | its name was posted, but to another center
        + add o1; post #1 n0 /panel
        - [note unmatchedName] post #1 n0; add o1 Another; remove o1 Another n0
        - 1-2: add o* >main; post #1 n2; deliver #1 o1 >main
        - add o1 @7 /window; add o2 @7 /panel; post #1 n1 /panel; append #1 o2; worker handle #1 o2
        problem neverDelivered 1 3 | its name was posted, but to another center
        + add o1 ^center=7f0020; log 'added'; fpost #1
        - add o1 ^; log 'added'; fpost #1
        problem neverDelivered 2 5
        + other log 'before'; add o1; log 'added'; other log 'goes on'; other post #1 n0; log 'removes'; remove o1 n0
        - other log 'before'; add o1; other post #1 n0; log 'added'; other post #2 n0; remove o1 n0
        """

    static let names = """
        problem unmatchedName 1 3 | Done was posted 2 times before it had an observer
        + 1-2: post #* n0; add o1; give #3 o1
        - 1-2: post #* n0; add o1 Another; give #3 o1 Another
        + 1-2: post #* n0 /window; add o1 /window; give #3 o1
        - 1-2: post #* n0 /window; add o1 /panel; give #3 o1
        problem unmatchedName 1 2
        + worker post #1; register
        - add o1; give #1 o1; remove o1 n0; post #2 n0; add o2; give #3 o2

        problem unmatchedName 1 2 | ItemSaved was never posted but is observed by observer 1. ItemSeved was posted once
        + add o1 ItemSaved; post #1 n0 ItemSeved
        - [note unmatchedName] add o1 ItemSaved; post #1 n0 Opened
        - [note incomplete] add o1 ItemSaved; post #1 n0 Opened; lost - n3
        note unmatchedName 1 2 | keep the observer's token
        + add o1; remove o1 n0
        note unmatchedName 1 | was never posted but is observed by observer 1.
        + add o1 ^
        - add o1 ^own
        - add o1 ItemSaved; give #1 o1 ItemSaved; post #2 WindowClosed n0

        problem enqueuedNeverPosted 1 | Done was enqueued once in a PostingQueue on worker and not posted afterwards
        + worker enqueue #1 >worker $asap; pass 1500ms
        - worker enqueue #1 >worker $asap; worker post #1 n0; pass 1500ms
        problem enqueuedNeverPosted 1 2 3
        + worker enqueue #1 >worker $asap; worker targetGone #1; worker threadEnd -
        problem enqueuedNeverPosted 1 2 | Done was enqueued 2 times in a NotificationQueue on worker
        + 1-2: worker enqueue @* $asap ^; pass 2s
        - 1-2: worker enqueue @* $whenIdle ^; worker fpost #1; pass 2s
        - 1-2: worker enqueue @* $now ^; pass 2s
        note enqueuedNeverPosted 1 2
        + 1-2: worker enqueue @* $asap ^
        """

    static let threads = """
        problem wrongThread 1 2 4 | observer 1 of Done should be handled on worker but was handled on other 3 times.
        + add o1; 1-3: hand #* o1 & other deliver #* o1 >worker & other return #* o1
        - add o1; 1-3: hand #* o1 & worker deliver #* o1 >worker & worker return #* o1
        problem wrongThread 2
        + append - #1 >worker; main deliver - #1; main return - #1
        - append - #1 >worker; worker deliver - #1; worker return - #1

        note onPostingThread 1 2 3 | observer 1 of Done was added on main, but its handler ran on worker 2 times
        + add o1 %poster; 1-2: worker post #* n1 & worker handle #* o1
        - add o1 %poster; 1-2: post #* n1 & main handle #* o1
        - add o1 %poster; post #1 n1; append #1 o1; worker deliver #1 o1; worker return #1 o1
        note wrongThread 1 2 3 | its handler ran on worker and other 2 times
        + add o1 %poster; worker post #1 n1; worker handle #1 o1; other post #2 n1; other handle #2 o1
        problem wrongThread 1 2 3
        + add o1 %poster; worker post #1 n1; worker handle #1 o1; main post #2 n1; main handle #2 o1
        problem wrongThread 1 2 3 | on two threads at the same time
        + add o1 %poster; worker post #1 n1; worker deliver #1 o1; other post #2 n1; other handle #2 o1; worker return #1 o1

        problem wrongThread 1 2 3 | ran on other 2 times, because it is called on the thread that posts.
        + add o1 ^; 1-2: other fpost #* o1; fpost #3 o1
        - add o1 ^; 1-2: fpost #* o1; fpost #3 o1
        - add o1 ^queue=7f22; 1-2: other fpost #* o1; fpost #3 o1
        note wrongThread 1 2 3
        + add o1 ^; worker fpost #1 o1
        - add o1 ^own; worker fpost #1 o1
        - add o1 ^; worker deliver - o1 ^; main return - o1 ^; other deliver - o1 ^; remove - o1 ^; pass 10s
        problem wrongThread 1 6 7 | was added on worker, but its handler ran on main once
        + worker add o1 ^; worker fpost #1 o1; main fpost #2 o1
        note onPostingThread 1 2 3 | was added on worker, but its handler ran on other 2 times
        + worker add o1 ^; other fpost #1 o1; other fpost #2 o1

        problem overtaken 2 6 8 | once a later post was handled before an earlier one
        + add o1; hand #1 o1; main hand #2 o1; worker handle #2 o1; worker handle #1 o1
        - add o1; hand #1 o1; main hand #2 o1; worker handle #1 o1; worker handle #2 o1
        - add o1; hand #1 o1; other hand #2 o1; worker handle #2 o1; worker handle #1 o1
        - add o1 >main; 1-2: other hand #* o1 >main; main deliver #2 o1 %overtakes; main return #2 o1; main handle #1 o1
        """

    static let time = """
        note stalled 1 4 5 | occupied the main thread for up to 31 ms, once for longer than 16 ms
        + add o1 >main; other hand #1 o1 >main; main handle #1 o1 30ms
        - add o1; other hand #1 o1; worker handle #1 o1 900ms
        - add o1 >main; other hand #1 o1 >main; main handle #1 o1 14ms
        problem stalled 1 4 5
        + add o1 >main; other hand #1 o1 >main; main handle #1 o1 300ms
        note stalled 2 6 7 | observer 2 of B
        + add o1 A >main; add o2 B >main; post #1 A n1; deliver #1 o1 A; post #2 B n1; main handle #2 o2 B 20ms; return #1 o1

        problem stalled 5 7 | worker does not drain: 1 notification or block waits for it
        + add o1; give #1 o1; hand #2 o1; pass 2s; log - 'main goes on'
        - [problem backlog] add o1; give #1 o1; hand #2 o1; pass 900ms; log - 'main goes on'
        - add o1; give #1 o1; hand #2 o1; pass 2s; worker handle #2 o1
        problem stalled 1 3 | main does not drain | links AsyncMain
        + add o1 >main; worker hand #1 o1 >main; pass 2s
        problem backlog 1 2 3 | 1 of 1 notification for observer 1 of Done waits for worker | run its run loop
        + add o1; hand #1 o1
        - add o1; give #1 o1
        note backlog 1 2 3
        + add o1; hand #1 o1; end - !stopped
        problem backlog 1 8 9 | 1 of 4 notifications for observer 1 of Done waits for worker (thread 2) when
        + add o1; 1-4: hand #* o1; 1-3: worker handle #* o1 600ms
        - add o1; 1-4: hand #* o1; 1-4: worker handle #* o1 600ms
        problem backlog 1 4 5 | 2 of 3 notifications for observer 1 of any name wait for worker
        + add o1 -; hand #1 o1 A; hand #2 o1 B; hand #3 o1 C; worker handle #1 o1 A

        problem handlerNeverReturned 1 6 | worker is in the handler of observer 1 of Done | recorded nothing else for 5 s
        + add o1; 1-2: hand #* o1; worker deliver #1 o1 >worker; pass 5s
        - add o1; 1-2: hand #* o1; worker deliver #1 o1 >worker; pass 5s; worker return #1 o1; worker handle #2 o1

        problem refusedWait 1 | because it would have deadlocked: worker waits for main.
        + refuseWait - '{number = 2, name = worker} waits for main'
        note waitsBothWays 1 3 | main waits for worker, and worker for main, although not
        + wait - >worker; waitEnd -; worker wait - >main; worker waitEnd -; other wait - >worker
        - wait - >worker; wait - >other; worker wait - >other
        problem waitTimedOut 4 5 | main waited 2 s for worker to handle Done at Demo/main.swift:7, until the timeout.
        + add o1; hand #1 o1; wait - WORKER @7; waitEnd - !timedOut +2s; worker handle #1 o1
        - [note longWait] add o1; hand #1 o1; wait - WORKER @7; waitEnd - +2s; worker handle #1 o1
        problem waitTimedOut 4 5 6 | , while worker was in the handler of observer 1 of Done, added at Demo/main.swift:1.
        + add o1; hand #1 o1; wait - WORKER; worker deliver #1 o1; waitEnd - !timedOut +2s; worker return #1 o1
        problem longWait 2 3 | main has waited 7 s for worker to handle Done at Demo/main.swift:11.
        + add o2; worker log - 'begins'; wait - WORKER @11; hand #1 o2; pass 7s; other end - !exit
        note longWait 3 8 | main waited 2.01 s for worker to handle Done at Demo/main.swift:11.
        + add o2; worker log - 'begins'; wait - WORKER @11; hand #1 o2; pass 2s; worker handle #1 o2; waitEnd -
        - add o2; worker log - 'begins'; wait - WORKER @11; hand #1 o2; pass 30ms; worker handle #1 o2; waitEnd -
        note longWait 2 10 | for worker to handle Done.
        + add o1; wait - WORKER; 1-2: hand #* o1; pass 2s; worker handle #1 o1; worker deliver #2 o1; waitEnd -
        - wait - '{number = 2, name = worker} to end'; pass 2s; waitEnd -
        problem handlerNeverReturned 1 4 | worker is in the handler of observer 1 of Done until the recording ends
        + add o1; hand #1 o1; worker deliver #1 o1; wait - WORKER; hand #2 o1; pass 7s; other end - !exit
        + add o1; hand #1 o1; worker deliver #1 o1; wait - WORKER; other wait - MAIN; pass 7s; other end - !exit
        problem longWait 1 2 | links AsyncMain | MainRunLoop.run()
        + log 'begins'; worker wait - MAIN; pass 5s; other end - !exit

        problem queueBlocksPoster 1 2 3 | main posted Done and waited for the operation queue of observer 1 of Done for up to 1 s
        + worker add o1 ^queue=5; fbegin #1; pass 1s; other frun #1 o1; fend #1 n1
        - worker add o1 ^queue=5; fbegin #1; pass 5ms; other frun #1 o1; fend #1 n1
        note queueBlocksPoster 1 2 3
        + worker add o1 ^queue=5; fbegin #1; pass 50ms; other frun #1 o1; fend #1 n1
        note queueBlocksPoster 3 4 | the operation queue of several observers for up to
        + worker add o1 ^queue=5; worker add o2 ^queue=main; worker fbegin #1; other frun #1 o1; main frun #1 o2 15ms; worker fend #1 n2
        problem queueBlocksPoster 1 2 | observer 1 of Done until the recording ended, for 5 s
        + add o1 ^queue=main; worker fbegin #1; pass 5s
        - add o1 ^queue=main; worker fbegin #1; main frun #1 o1; worker fend #1 n1; pass 5s
        - add o1 ^queue=main; worker fbegin #1
        problem queueBlocksPoster 1 2 3 | until the recording ended
        + add o1 ^queue=main; worker fbegin #1; other deliver - #1 o1 ^; 1-3: log '*' +400ms; other signal
        problem queueBlocksPoster 3 4 | the operation queue of observer 2 of Done until
        + add o1 ^queue=main; fremove o1; add o2 ^queue=5; worker fbegin #1; pass 9s
        problem queueBlocksPoster 3 | the operation queue of several observers until
        + add o1 ^queue=main; add o2 ^queue=5; worker fbegin #1; pass 9s
        """

    static let ends = """
        note dropped 1 8 | policy (dropNewest(2)) of observer 1 of Done dropped 1 of 2
        + add o1; give #1 o1; hand #2 o1; drop #2 o1 n2 %dropNewest
        - add o1; give #1 o1; hand #2 o1; cancel #2 o1
        problem targetGone 1 2 5 | 1 notification for observer 1 of Done was lost, because worker (thread 2) had ended.
        + add o1; worker threadEnd -; hand #1 o1; targetGone #1 o1
        - add o1; worker threadEnd -; hand #1 o1; cancel #1 o1
        note targetGone 1 4 5 | because worker (thread 2) ended before it handled it. | run its run loop until everything
        + add o1; hand #1 o1; worker targetGone #1 o1; worker threadEnd -
        problem targetGone 2 | 1 block was lost, because worker (thread 2) was never started. | Start the thread
        + append - #1 >worker; targetGone - #1 >worker !notStarted
        problem targetGone 1 2 5 | dispatchMain() | Swift Testing
        + add o1 >main; threadEnd -; worker hand #1 o1 >main; worker targetGone #1 o1

        problem endedInHandler 1 3 4 | ended by signal 11 while main was in the handler of observer 1 of Done | released
        + add o1 >main; post #1 n1; deliver #1 o1; end - !signal11
        problem endedInHandler 1 3 4 | message of the process on standard error
        + add o1 >main; post #1 n1; deliver #1 o1; end - !signal4
        note endedInHandler 1 3 4
        + add o1 >main; post #1 n1; deliver #1 o1; end - !signal9
        problem anyNameObserver 1 2 3 | ended by signal 4 while worker posted Demo.Saved to a center that has an observer
        + worker add o1 - ^; worker fbegin #1 Demo.Saved; worker end - !signal4
        - worker add o1 - ^center=7f0020; worker fbegin #1 Demo.Saved; worker end - !signal4
        - worker add o1 - ^; worker fbegin #1 Demo.Saved; worker end - !exit

        note incomplete 1 | 7 records were lost
        + lost - n7
        - log -
        note fork 1 | forked once
        + fork -
        """
}
