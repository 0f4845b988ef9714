;;; weir.el --- Ask the coding agent Weir -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "27.1"))

;;; Commentary:

;; (add-to-list 'load-path ".../examples/emacs") (require 'weir)
;;
;; M-x weir-ask          asks what stands in the current buffer, or its region
;; C-u M-x weir-ask      asks a question about the current buffer's file
;; M-x weir-abort        ends the running turn; C-c C-k in *weir* does the same
;;
;; The answer streams into the buffer *weir*.  The process is started by the
;; first question and again after it has died.

;;; Code:

(require 'json)
(require 'subr-x)

(defgroup weir nil "The coding agent Weir." :group 'tools)

(defcustom weir-command '("weir" "--mode" "rpc")
  "Program and arguments; the folder is added."
  :type '(repeat string))

(defvar weir--process nil "The running process, nil when there is none.")
(defvar weir--busy nil "Non-nil from a question until nothing runs any more.")
(defvar weir--partial "" "The beginning of a line whose end has not come yet.")

(defvar weir-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-k") #'weir-abort)
    map))

(define-derived-mode weir-mode text-mode "Weir"
  "Where the answers of Weir are.")

(defun weir--buffer ()
  "The scratch buffer with the answers."
  (let ((buffer (get-buffer-create "*weir*")))
    (with-current-buffer buffer
      (unless (derived-mode-p 'weir-mode) (weir-mode)))
    buffer))

(defun weir--append (text)
  "Add TEXT to the answers; a window whose point is at the end follows."
  (with-current-buffer (weir--buffer)
    (let ((windows (seq-filter (lambda (window) (= (window-point window) (point-max)))
                               (get-buffer-window-list nil nil t))))
      (save-excursion
        (goto-char (point-max))
        (insert text))
      (dolist (window windows) (set-window-point window (point-max))))))

(defun weir--note (text)
  "Add TEXT, which is no part of an answer, on a line of its own."
  (weir--append (format "\n[%s]\n" (string-trim-right text))))

(defun weir--handle (event)
  "Show EVENT, an alist."
  (let-alist event
    (pcase .type
      ("message_delta" (weir--append .delta))
      ("assistant" (seq-do (lambda (call) (weir--note (alist-get 'name call))) .tool_calls))
      ("not_run" (weir--note (concat "not run: " .reason)))
      ("error" (weir--note (concat "error: " .message)))
      ("turn_end" (when (eq .aborted t) (weir--note "aborted")))
      ("agent_settled" (setq weir--busy nil))
      ("response"
       (unless (eq .success t)
         (when (equal .command "prompt") (setq weir--busy nil))
         (weir--note (format "%s failed: %s" .command .error)))))))

(defun weir--receive (process output)
  "Take OUTPUT of PROCESS, which may begin and end anywhere in a line."
  (when (eq process weir--process)
    (let ((lines (split-string (concat weir--partial output) "\n")))
      (setq weir--partial (car (last lines)))
      (dolist (line (butlast lines))
        (let ((event (ignore-errors
                       (json-parse-string line :object-type 'alist :false-object nil))))
          (when (consp event) (weir--handle event)))))))

(defun weir--ended (process _change)
  "Say that PROCESS has ended, with what it said on stderr."
  (when (and (eq process weir--process) (not (process-live-p process)))
    (setq weir--process nil weir--busy nil weir--partial "")
    (let ((stderr (process-get process 'stderr)))
      (accept-process-output (get-buffer-process stderr) 0.1)
      (weir--note (format "weir ended with code %d: %s" (process-exit-status process)
                          (with-current-buffer stderr (buffer-string))))
      (kill-buffer stderr))))

(defun weir--send (command)
  "Write COMMAND, an alist, unless the process has just died."
  (when (process-live-p weir--process)
    (ignore-errors (process-send-string weir--process (concat (json-encode command) "\n")))))

(defun weir--start ()
  "Start the process unless it runs."
  (unless (process-live-p weir--process)
    (let ((stderr (generate-new-buffer " *weir stderr*")))
      (setq weir--partial ""
            weir--process
            (make-process :name "weir" :noquery t :connection-type 'pipe
                          :coding 'utf-8-unix :stderr stderr
                          :command (append weir-command
                                           (list (expand-file-name default-directory)))
                          :filter #'weir--receive :sentinel #'weir--ended))
      (process-put weir--process 'stderr stderr)
      (set-process-sentinel (get-buffer-process stderr) #'ignore)
      (weir--send '((type . "set_event_detail") (detail . "full"))))))

;;;###autoload
(defun weir-ask (question)
  "Send QUESTION; while a turn runs it waits for its own turn.
Without a prefix argument the question is the region or the whole buffer."
  (interactive
   (list (cond ((not current-prefix-arg)
                (apply #'buffer-substring-no-properties
                       (if (use-region-p) (list (region-beginning) (region-end))
                         (list (point-min) (point-max)))))
               (t (concat (read-string "Ask Weir: ")
                          (and buffer-file-name
                               (format "\n\nThis is about the file %s."
                                       (file-relative-name buffer-file-name))))))))
  (when (string-blank-p question) (user-error "Weir: there is no question"))
  (let ((folder default-directory))
    (display-buffer (weir--buffer))
    (weir--append (format "\n> %s\n\n" (replace-regexp-in-string "\n" "\n> " question)))
    (let ((default-directory folder)) (weir--start)))
  (weir--send `((type . ,(if weir--busy "follow_up" "prompt")) (message . ,question)))
  (setq weir--busy t))

(defun weir-abort ()
  "End the running turn."
  (interactive)
  (when weir--busy (weir--send '((type . "abort")))))

(provide 'weir)
;;; weir.el ends here
