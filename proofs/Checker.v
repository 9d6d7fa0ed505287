(** Soundness of the certificates of genverify: what the checker accepts is true of every dataset that fits.

    The first part is about records of any type X, given a list [live] of records outside of which no record of a dataset can
    lie. The second part says why zero cells, structural rules and exhausted totals leave such a list. The third part is the
    checker of src/genverify/checker/check.py on records that are lists of codes; the fourth is the form in which
    `genverify export` writes proofs: kinds of records over the whole domain, nothing ruled out beforehand. *)

From Coq Require Import ZArith List Bool Lia.
Import ListNotations.
Open Scope Z_scope.

Section Certificates.

Variable X : Type. (* a record *)

Definition sum (f : X -> Z) (D : list X) : Z := fold_right (fun x s => f x + s) 0 D.
Definition one (a : X -> bool) (x : X) : Z := if a x then 1 else 0.
Definition count (a : X -> bool) (D : list X) : Z := sum (one a) D.

(** A published cell: lo <= the sum of what the records add <= hi. To a count, a record adds 1 or 0. *)
Record Cell := mkCell { adds : X -> Z; lo : Z; hi : Z }.

Definition fits (cells : list Cell) (D : list X) : Prop :=
  Forall (fun c => lo c <= sum (adds c) D <= hi c) cells.

(** A leaf: multipliers y on cells (by place), w on the forks above, c on the claim; d is the common denominator. *)
Record Leaf := mkLeaf { empty : bool; y : list (nat * Z); d : Z; w : list Z; c : Z }.

Inductive Node :=
  | AtLeaf : Leaf -> Node
  | Fork : (X -> bool) -> Z -> Node -> Node -> Node. (* part, t: at most t records lie in the part, or more *)

(** Of each fork above, outermost first: its part, its t, whether we are below it. *)
Definition Path := list ((X -> bool) * Z * bool).

Definition holds (D : list X) (step : (X -> bool) * Z * bool) : Prop :=
  let '(part, t, below) := step in
  if below then count part D <= t else count part D >= t + 1.

Inductive Goal :=
  | AtMost : (X -> bool) -> Z -> Goal
  | AtLeast : (X -> bool) -> Z -> Goal
  | Never : (X -> bool) -> Z -> Goal
  | NoDataset : Goal.

Definition true_of (g : Goal) (D : list X) : Prop :=
  match g with
  | AtMost a m => count a D <= m
  | AtLeast a m => count a D >= m
  | Never a m => count a D <> m
  | NoDataset => False
  end.

(** ** The checker *)

Definition no_cell : Cell := mkCell (fun _ => 0) 0 0.
Definition cell_at (cells : list Cell) (i : nat) : Cell := nth i cells no_cell.

Fixpoint value_y (cells : list Cell) (ys : list (nat * Z)) (x : X) : Z :=
  match ys with [] => 0 | (i, m) :: rest => m * adds (cell_at cells i) x + value_y cells rest x end.

Fixpoint value_w (path : Path) (ws : list Z) (x : X) : Z :=
  match path, ws with
  | (part, _, _) :: path', v :: ws' => v * one part x + value_w path' ws' x
  | _, _ => 0
  end.

Fixpoint total_y (cells : list Cell) (ys : list (nat * Z)) : Z :=
  match ys with
  | [] => 0
  | (i, m) :: rest => m * (if 0 <? m then hi (cell_at cells i) else lo (cell_at cells i)) + total_y cells rest
  end.

Fixpoint total_w (path : Path) (ws : list Z) : Z :=
  match path, ws with
  | (_, t, below) :: path', v :: ws' => v * (if (below : bool) then t else t + 1) + total_w path' ws'
  | _, _ => 0
  end.

Fixpoint signs (path : Path) (ws : list Z) : bool :=
  match path, ws with
  | [], [] => true
  | (_, _, below) :: path', v :: ws' => (if (below : bool) then 0 <=? v else v <=? 0) && signs path' ws'
  | _, _ => false
  end.

Definition places (cells : list Cell) (ys : list (nat * Z)) : bool :=
  forallb (fun iy => Nat.ltb (fst iy) (length cells)) ys.

Definition value (cells : list Cell) (path : Path) (leaf : Leaf) (x : X) : Z :=
  value_y cells (y leaf) x + value_w path (w leaf) x.
Definition total (cells : list Cell) (path : Path) (leaf : Leaf) : Z :=
  total_y cells (y leaf) + total_w path (w leaf).

Definition check_leaf (cells : list Cell) (live : list X) (g : Goal) (path : Path) (leaf : Leaf) : bool :=
  places cells (y leaf) && signs path (w leaf) && (0 <? d leaf) &&
  let v := value cells path leaf in
  let t := total cells path leaf in
  match g with
  | Never a m => forallb (fun x => 0 <=? v x + c leaf * one a x) live && (t + c leaf * m <? 0)
  | NoDataset => forallb (fun x => 0 <=? v x) live && (t <? 0)
  | AtMost a m =>
      if empty leaf then forallb (fun x => 0 <=? v x) live && (t <? 0)
      else forallb (fun x => d leaf * one a x <=? v x) live && (t <? d leaf * (m + 1))
  | AtLeast a m =>
      if empty leaf then forallb (fun x => 0 <=? v x) live && (t <? 0)
      else forallb (fun x => - (d leaf * one a x) <=? v x) live && (t <? d leaf * (1 - m))
  end.

Fixpoint check_node (cells : list Cell) (live : list X) (g : Goal) (path : Path) (node : Node) : bool :=
  match node with
  | AtLeaf leaf => check_leaf cells live g path leaf
  | Fork part t below above =>
      check_node cells live g (path ++ [(part, t, true)]) below &&
      check_node cells live g (path ++ [(part, t, false)]) above
  end.

(** ** Sums *)

Lemma sum_plus : forall f g D, sum (fun x => f x + g x) D = sum f D + sum g D.
Proof. induction D; simpl; lia. Qed.

Lemma sum_times : forall k f D, sum (fun x => k * f x) D = k * sum f D.
Proof. induction D; simpl; lia. Qed.

Lemma sum_zero : forall D, sum (fun _ => 0) D = 0.
Proof. induction D; simpl; lia. Qed.

Lemma sum_le : forall f g D, (forall x, In x D -> f x <= g x) -> sum f D <= sum g D.
Proof.
  induction D as [|x D IH]; simpl; intros H; [lia|].
  specialize (H x (or_introl eq_refl)) as Hx.
  assert (sum f D <= sum g D) by (apply IH; intros; apply H; now right). lia.
Qed.

Lemma sum_ext : forall f g D, (forall x, f x = g x) -> sum f D = sum g D.
Proof. induction D; simpl; intros H; [reflexivity|]. rewrite H, IHD; auto. Qed.

Lemma nonnegative_sum : forall f D, (forall x, In x D -> 0 <= f x) -> 0 <= sum f D.
Proof. intros f D H. rewrite <- (sum_zero D). now apply sum_le. Qed.

Lemma positive_sum : forall f D x, (forall x, In x D -> 0 <= f x) -> In x D -> f x <= sum f D.
Proof.
  induction D as [|x0 D IH]; simpl; intros x H; [contradiction|]. intros [E|I]; [subst| ].
  - assert (0 <= sum f D) by (apply nonnegative_sum; intros; apply H; now right). lia.
  - specialize (H x0 (or_introl eq_refl)) as H0.
    assert (f x <= sum f D) by (apply IH; [intros; apply H; now right|assumption]). lia.
Qed.

Lemma whole : forall d a b t, 0 < d -> d * a <= t -> t < d * (b + 1) -> a <= b.
Proof.
  intros d a b t Hd H T. assert (L : d * a < d * (b + 1)) by lia.
  apply Z.mul_lt_mono_pos_l in L; lia.
Qed.

(** ** A leaf *)

Lemma fits_at : forall cells D i, fits cells D -> (i < length cells)%nat ->
  lo (cell_at cells i) <= sum (adds (cell_at cells i)) D <= hi (cell_at cells i).
Proof. intros cells D i F L. unfold fits in F. rewrite Forall_forall in F. apply F. now apply nth_In. Qed.

Lemma bound_y : forall cells D ys, fits cells D -> places cells ys = true ->
  sum (value_y cells ys) D <= total_y cells ys.
Proof.
  induction ys as [|[i m] ys IH]; simpl; intros F P.
  - rewrite sum_zero; lia.
  - apply andb_prop in P as [L P]. apply Nat.ltb_lt in L.
    rewrite (sum_plus (fun x => m * adds (cell_at cells i) x)), sum_times.
    specialize (IH F P). pose proof (fits_at cells D i F L). simpl in *.
    destruct (Z.ltb_spec 0 m); nia.
Qed.

Lemma bound_w : forall D path ws, Forall (holds D) path -> signs path ws = true ->
  sum (value_w path ws) D <= total_w path ws.
Proof.
  induction path as [|[[part t] below] path IH]; intros [|v ws] H S; simpl in *; try discriminate.
  - rewrite sum_zero; lia.
  - apply andb_prop in S as [Sv S]. inversion H as [|? ? Hh Ht]; subst. specialize (IH ws Ht S).
    rewrite (sum_plus (fun x => v * one part x)), sum_times. fold (count part D). simpl in Hh.
    destruct below.
    + apply Z.leb_le in Sv. nia.
    + apply Z.leb_le in Sv. nia.
Qed.

Lemma bound_leaf : forall cells D path leaf, fits cells D -> Forall (holds D) path ->
  places cells (y leaf) = true -> signs path (w leaf) = true ->
  sum (value cells path leaf) D <= total cells path leaf.
Proof.
  intros. unfold value, total. rewrite sum_plus.
  pose proof (bound_y cells D (y leaf)). pose proof (bound_w D path (w leaf)). intuition lia.
Qed.

Lemma all_live : forall f (live D : list X), (forall x, In x D -> In x live) -> forallb f live = true ->
  forall x, In x D -> f x = true.
Proof. intros f live D H F x I. rewrite forallb_forall in F. auto. Qed.

Theorem leaf_sound : forall cells live g path leaf D,
  check_leaf cells live g path leaf = true ->
  fits cells D -> (forall x, In x D -> In x live) -> Forall (holds D) path -> true_of g D.
Proof.
  intros cells live g path leaf D C F L P. unfold check_leaf in C.
  apply andb_prop in C as [C V]. apply andb_prop in C as [C Dpos]. apply andb_prop in C as [Pl S].
  pose proof (bound_leaf cells D path leaf F P Pl S) as B.
  apply Z.ltb_lt in Dpos. cbv zeta in V.
  assert (E : forallb (fun x => 0 <=? value cells path leaf x) live = true -> total cells path leaf < 0 -> False).
  { intros A T. assert (0 <= sum (value cells path leaf) D); [|lia].
    apply nonnegative_sum. intros x I. pose proof (all_live _ _ _ L A x I) as H. now apply Z.leb_le. }
  destruct g as [a m|a m|a m|]; cbv beta iota in V; simpl.
  - destruct (empty leaf); apply andb_prop in V as [A T]; apply Z.ltb_lt in T; [exfalso; auto|].
    apply (whole (d leaf) _ _ (total cells path leaf)); [assumption| |assumption].
    apply (Z.le_trans _ (sum (value cells path leaf) D)); [|assumption].
    unfold count. rewrite <- sum_times. apply sum_le. intros x I.
    pose proof (all_live _ _ _ L A x I) as H. now apply Z.leb_le.
  - destruct (empty leaf); apply andb_prop in V as [A T]; apply Z.ltb_lt in T; [exfalso; auto|].
    assert (d leaf * - count a D <= total cells path leaf).
    2: { replace (1 - m) with (- m + 1) in T by ring.
         pose proof (whole (d leaf) (- count a D) (- m) (total cells path leaf) Dpos H T). lia. }
    apply (Z.le_trans _ (sum (value cells path leaf) D)); [|assumption].
    replace (d leaf * - count a D) with (- d leaf * count a D) by ring.
    unfold count. rewrite <- sum_times. apply sum_le. intros x I.
    pose proof (all_live _ _ _ L A x I) as H. apply Z.leb_le in H. lia.
  - apply andb_prop in V as [A T]. apply Z.ltb_lt in T. intros Em.
    assert (0 <= sum (fun x => value cells path leaf x + c leaf * one a x) D).
    { apply nonnegative_sum. intros x I. pose proof (all_live _ _ _ L A x I) as H. now apply Z.leb_le. }
    rewrite sum_plus, sum_times in H. fold (count a D) in H. rewrite Em in H. lia.
  - apply andb_prop in V as [A T]. apply Z.ltb_lt in T. auto.
Qed.

(** ** A tree of cases *)

Theorem node_sound : forall node cells live g path D,
  check_node cells live g path node = true ->
  fits cells D -> (forall x, In x D -> In x live) -> Forall (holds D) path -> true_of g D.
Proof.
  induction node as [leaf|part t below IHb above IHa]; simpl; intros cells live g path D C F L P.
  - eapply leaf_sound; eauto.
  - apply andb_prop in C as [Cb Ca].
    destruct (Z.le_gt_cases (count part D) t).
    + apply (IHb _ _ _ _ _ Cb F L). apply Forall_app. split; [assumption|]. repeat constructor. assumption.
    + apply (IHa _ _ _ _ _ Ca F L). apply Forall_app. split; [assumption|]. repeat constructor. simpl. lia.
Qed.

(** ** Which records are live *)

(** An exhausted total: disjoint cells inside a universe whose counts add up to it. *)
Record Lemma_ := mkLemma { universe : nat; within : list nat }.

Definition inside_ (cells : list Cell) (l : Lemma_) (x : X) : Z :=
  fold_right (fun i s => adds (cell_at cells i) x + s) 0 (within l).

Definition lo_sum (cells : list Cell) (l : Lemma_) : Z :=
  fold_right (fun i s => lo (cell_at cells i) + s) 0 (within l).

Definition check_lemma (cells : list Cell) (all : list X) (l : Lemma_) : bool :=
  Nat.ltb (universe l) (length cells) && forallb (fun i => Nat.ltb i (length cells)) (within l) &&
  forallb (fun x => inside_ cells l x <=? adds (cell_at cells (universe l)) x) all &&
  (hi (cell_at cells (universe l)) <=? lo_sum cells l).

Definition obeys_lemma (cells : list Cell) (l : Lemma_) (x : X) : bool :=
  adds (cell_at cells (universe l)) x <=? inside_ cells l x.

Lemma lo_sum_le : forall cells l D, fits cells D ->
  forallb (fun i => Nat.ltb i (length cells)) (within l) = true -> lo_sum cells l <= sum (inside_ cells l) D.
Proof.
  intros cells l D F. unfold lo_sum, inside_. induction (within l) as [|i is IH]; simpl; intros H.
  - rewrite sum_zero; lia.
  - apply andb_prop in H as [Hi H]. apply Nat.ltb_lt in Hi. specialize (IH H).
    rewrite (sum_plus (adds (cell_at cells i))). pose proof (fits_at cells D i F Hi). lia.
Qed.

Theorem lemma_sound : forall cells all l D,
  check_lemma cells all l = true -> fits cells D -> (forall x, In x D -> In x all) ->
  forall x, In x D -> obeys_lemma cells l x = true.
Proof.
  intros cells all l D C F A x I. unfold check_lemma in C.
  apply andb_prop in C as [C T]. apply andb_prop in C as [C S]. apply andb_prop in C as [U W].
  apply Z.leb_le in T. apply Nat.ltb_lt in U. unfold obeys_lemma. apply Z.leb_le.
  pose proof (lo_sum_le cells l D F W) as Lo. pose proof (fits_at cells D (universe l) F U) as Hi.
  set (gap := fun x => adds (cell_at cells (universe l)) x + -1 * inside_ cells l x).
  assert (G : forall x, In x D -> 0 <= gap x).
  { intros z Iz. pose proof (all_live _ _ _ A S z Iz) as H. apply Z.leb_le in H. unfold gap. lia. }
  pose proof (positive_sum gap D x G I) as P. unfold gap in P at 2.
  rewrite sum_plus, sum_times in P. unfold gap in P. lia.
Qed.

Definition zero_ok (all : list X) (cell : Cell) (x : X) : bool :=
  negb ((hi cell =? 0) && forallb (fun z => 0 <=? adds cell z) all) || (adds cell x <=? 0).

Lemma zero_sound : forall cells all cell D, In cell cells -> fits cells D -> (forall x, In x D -> In x all) ->
  forall x, In x D -> zero_ok all cell x = true.
Proof.
  intros cells all cell D Ic F A x I. unfold zero_ok.
  destruct ((hi cell =? 0) && forallb (fun z => 0 <=? adds cell z) all) eqn:E; simpl; [|reflexivity].
  apply andb_prop in E as [H0 H]. apply Z.eqb_eq in H0. apply Z.leb_le.
  unfold fits in F. rewrite Forall_forall in F. specialize (F cell Ic).
  assert (adds cell x <= sum (adds cell) D); [|lia].
  apply positive_sum; [|assumption]. intros z Iz. apply Z.leb_le. exact (all_live _ _ _ A H z Iz).
Qed.

(** Live: in no cell that counts 0, excluded by no lemma; [rule] is what the structural rules demand of every record. *)
Definition live_records (all : list X) (rule : X -> bool) (cells : list Cell) (lemmas : list Lemma_) : list X :=
  filter (fun x => rule x && forallb (fun cell => zero_ok all cell x) cells
                   && forallb (fun l => obeys_lemma cells l x) lemmas) all.

Theorem live_sound : forall all rule cells lemmas D,
  forallb (check_lemma cells all) lemmas = true -> fits cells D ->
  (forall x, In x D -> In x all /\ rule x = true) ->
  forall x, In x D -> In x (live_records all rule cells lemmas).
Proof.
  intros all rule cells lemmas D C F A x I. unfold live_records. apply filter_In.
  destruct (A x I) as [Ia R]. split; [assumption|].
  assert (A' : forall z, In z D -> In z all) by (intros z Iz; now destruct (A z Iz)).
  rewrite R. simpl. apply andb_true_intro. split; apply forallb_forall.
  - intros cell Ic. eapply zero_sound; eauto.
  - intros l Il. rewrite forallb_forall in C. eapply lemma_sound; eauto.
Qed.

(** The certificate of a goal: what the checker accepts is true of every dataset of the domain that fits. *)
Definition check (all : list X) (rule : X -> bool) (cells : list Cell) (lemmas : list Lemma_) (g : Goal) (node : Node) : bool :=
  forallb (check_lemma cells all) lemmas && check_node cells (live_records all rule cells lemmas) g [] node.

Theorem check_sound : forall all rule cells lemmas g node D,
  check all rule cells lemmas g node = true ->
  (forall x, In x D -> In x all /\ rule x = true) -> fits cells D -> true_of g D.
Proof.
  intros all rule cells lemmas g node D C A F. unfold check in C. apply andb_prop in C as [Cl Cn].
  eapply node_sound; eauto. eapply live_sound; eauto.
Qed.

(** A claim R(a, m): exactly m records match a. *)
Theorem claim_sound : forall all rule cells lemmas a m lower upper D,
  check all rule cells lemmas (AtLeast a m) lower = true ->
  check all rule cells lemmas (AtMost a m) upper = true ->
  (forall x, In x D -> In x all /\ rule x = true) -> fits cells D -> count a D = m.
Proof.
  intros all rule cells lemmas a m lower upper D Cl Cu A F.
  pose proof (check_sound _ _ _ _ _ _ _ Cl A F) as L. pose proof (check_sound _ _ _ _ _ _ _ Cu A F) as U.
  simpl in *. lia.
Qed.

End Certificates.

Arguments mkCell {X} _ _ _.
Arguments AtLeaf {X} _.
Arguments Fork {X} _ _ _ _.
Arguments AtMost {X} _ _.
Arguments AtLeast {X} _ _.
Arguments Never {X} _ _.
Arguments NoDataset {X}.

(** * Records as lists of codes, conditions as lists of allowed codes: the checker of check.py *)

Module Records.

Definition Rec := list Z.
Definition Predicate := list (nat * list Z). (* column, allowed codes *)

Definition matches (p : Predicate) (r : Rec) : bool :=
  forallb (fun clause => existsb (Z.eqb (nth (fst clause) r (-1))) (snd clause)) p.

(** lo <= COUNT(predicate) <= hi; with [sums], the sum of the codes of a column over these records. *)
Record Published := mkPublished { predicate : Predicate; sums : option nat; least : Z; most : Z }.

Definition cell_of (p : Published) : Cell Rec :=
  mkCell (fun r => if matches (predicate p) r then match sums p with None => 1 | Some i => nth i r 0 end else 0)
         (least p) (most p).

(** A structural rule: a record that matches the first condition matches one of the others. *)
Definition Rule := (Predicate * list Predicate)%type.
Definition obeys (rules : list Rule) (r : Rec) : bool :=
  forallb (fun rule => negb (matches (fst rule) r) || existsb (fun option => matches option r) (snd rule)) rules.

(** The part of a fork: a condition, or the records that add the same to every published cell as a given one. *)
Inductive Part := Where : Predicate -> Part | Like : Rec -> Part.
Inductive Tree := TLeaf : Leaf -> Tree | TFork : Part -> Z -> Tree -> Tree -> Tree.

Definition inside (cells : list (Cell Rec)) (part : Part) (r : Rec) : bool :=
  match part with
  | Where p => matches p r
  | Like s => forallb (fun cell => adds Rec cell r =? adds Rec cell s) cells
  end.

Fixpoint node_of (cells : list (Cell Rec)) (t : Tree) : Node Rec :=
  match t with
  | TLeaf leaf => AtLeaf leaf
  | TFork part at_ below above => Fork (inside cells part) at_ (node_of cells below) (node_of cells above)
  end.

(** Every record of a domain: one code of each column. *)
Fixpoint records (domain : list (list Z)) : list Rec :=
  match domain with
  | [] => [[]]
  | codes :: rest => flat_map (fun code => map (cons code) (records rest)) codes
  end.

Definition in_domain (domain : list (list Z)) (r : Rec) : Prop := Forall2 (fun code codes => In code codes) r domain.

Lemma records_complete : forall domain r, in_domain domain r -> In r (records domain).
Proof.
  induction domain as [|codes rest IH]; intros r H; inversion H; subst; simpl; [now left|].
  apply in_flat_map. eexists. split; [eassumption|]. apply in_map. now apply IH.
Qed.

Section Claims.
Variables (domain : list (list Z)) (rules : list Rule) (published : list Published) (lemmas : list Lemma_).

Definition cells := map cell_of published.
Definition check_goal (g : Goal Rec) (t : Tree) : bool :=
  check Rec (records domain) (obeys rules) cells lemmas g (node_of cells t).

(** A dataset that fits: records of the domain that obey the rules and give the published counts. *)
Definition dataset (D : list Rec) : Prop :=
  (forall r, In r D -> in_domain domain r /\ obeys rules r = true) /\ fits Rec cells D.

Theorem goal_sound : forall g t, check_goal g t = true -> forall D, dataset D -> true_of Rec g D.
Proof.
  intros g t C D [A F]. eapply check_sound; eauto. intros r I. destruct (A r I). split; [|assumption].
  now apply records_complete.
Qed.

(** "Exactly m records match a", as genverify reports it. *)
Definition check_claim (a : Predicate) (m : Z) (lower upper : Tree) : bool :=
  check_goal (AtLeast (matches a) m) lower && check_goal (AtMost (matches a) m) upper.

Theorem claim_is_true : forall a m lower upper, check_claim a m lower upper = true ->
  forall D, dataset D -> count Rec (matches a) D = m.
Proof.
  intros a m lower upper C D H. apply andb_prop in C as [L U].
  pose proof (goal_sound _ _ L D H). pose proof (goal_sound _ _ U D H). simpl in *. lia.
Qed.
End Claims.

End Records.

(** * Kinds of records as columns of a table: the form of an exported proof *)

Module Tables.

Record Row := mkRow { coefficients : list Z; row_lo : Z; row_hi : Z }.
Inductive Tree := TLeaf : Leaf -> Tree | TFork : list Z -> Z -> Tree -> Tree -> Tree.
Inductive Question := CountAtMost (counted : list Z) (m : Z) | CountAtLeast (counted : list Z) (m : Z)
  | CountNever (counted : list Z) (m : Z) | Contradiction.

Definition flag (values : list Z) (k : nat) : bool := nth k values 0 =? 1.
Definition cell_of (row : Row) : Cell nat := mkCell (fun k => nth k (coefficients row) 0) (row_lo row) (row_hi row).
Definition goal_of (q : Question) : Goal nat :=
  match q with
  | CountAtMost counted m => AtMost (flag counted) m
  | CountAtLeast counted m => AtLeast (flag counted) m
  | CountNever counted m => Never (flag counted) m
  | Contradiction => NoDataset
  end.
Fixpoint node_of (t : Tree) : Node nat :=
  match t with
  | TLeaf leaf => AtLeaf leaf
  | TFork part at_ below above => Fork (flag part) at_ (node_of below) (node_of above)
  end.

Definition check_table (kinds : nat) (rows : list Row) (q : Question) (t : Tree) : bool :=
  check_node nat (map cell_of rows) (seq 0 kinds) (goal_of q) [] (node_of t).

(** A dataset is the list of the kinds of its records. *)
Theorem table_sound : forall kinds rows q t, check_table kinds rows q t = true ->
  forall D, (forall k, In k D -> (k < kinds)%nat) -> fits nat (map cell_of rows) D -> true_of nat (goal_of q) D.
Proof.
  intros kinds rows q t C D A F. eapply node_sound; eauto. intros k I. apply in_seq. specialize (A k I). lia.
Qed.

End Tables.

(** * A case to follow by hand: three rent, and nobody rents who does not live alone; so three rent alone. *)

Module Example.
Import Records.
Definition domain := [[1; 2; 3]; [1; 2; 3; 4]; [1; 2]]. (* tenure, size, age *)
Definition count_of p n := mkPublished p None n n.
Definition published := [count_of [] 5; count_of [(0%nat, [1])] 2; count_of [(0%nat, [3])] 3;
  count_of [(0%nat, [3]); (1%nat, [2; 3; 4])] 0].
Definition alone_and_renting : Predicate := [(0%nat, [3]); (1%nat, [1])].
Definition by_rent (s : Z) := TLeaf (mkLeaf false [(2%nat, s)] 1 [] 0).

Theorem three_rent_alone : forall D, dataset domain [] published D -> count Rec (matches alone_and_renting) D = 3.
Proof. apply (claim_is_true domain [] published [] alone_and_renting 3 (by_rent (-1)) (by_rent 1)). reflexivity. Qed.

Example four_are_not_proved :
  check_claim domain [] published [] alone_and_renting 4 (by_rent (-1)) (by_rent 1) = false.
Proof. reflexivity. Qed.
End Example.

Print Assumptions Records.goal_sound.
Print Assumptions Records.claim_is_true.
Print Assumptions Tables.table_sound.
